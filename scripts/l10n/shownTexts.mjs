/** The places of VS Code's API and of the DOM whose strings people read. */

/** By interface or class: the properties whose value is shown. */
export const SHOWN_PROPERTIES = {
  AccessibilityInformation: ['label'],
  AuthenticationGetSessionPresentationOptions: ['detail'],
  ChatErrorDetails: ['message'],
  ChatFollowup: ['label', 'prompt'],
  CodeAction: ['title'],
  Command: ['title', 'tooltip'],
  Comment: ['body', 'label'],
  CommentThread: ['label'],
  CompletionItem: ['detail', 'documentation'],
  DecorationOptions: ['hoverMessage'],
  Diagnostic: ['message'],
  DocumentSymbol: ['detail'],
  FileDecoration: ['badge', 'tooltip'],
  InlayHint: ['label', 'tooltip'],
  InputBox: ['placeholder', 'prompt', 'validationMessage'],
  InputBoxOptions: ['title', 'prompt', 'placeHolder', 'validateInput'],
  InputBoxValidationMessage: ['message'],
  LanguageModelChatRequestOptions: ['justification'],
  LanguageModelToolConfirmationMessages: ['title', 'message'],
  LanguageStatusItem: ['name', 'text', 'detail'],
  MessageItem: ['title'],
  MessageOptions: ['detail'],
  OpenDialogOptions: ['title', 'openLabel', 'filters'],
  PreparedToolInvocation: ['invocationMessage'],
  ProgressOptions: ['title'],
  QuickInput: ['title'],
  QuickInputButton: ['tooltip'],
  QuickPick: ['placeholder'],
  QuickPickItem: ['label', 'description', 'detail'],
  QuickPickOptions: ['title', 'placeHolder'],
  SaveDialogOptions: ['title', 'saveLabel', 'filters'],
  SourceControl: ['label'],
  StatusBarItem: ['name', 'text', 'tooltip'],
  TerminalOptions: ['name', 'message'],
  ExtensionTerminalOptions: ['name'],
  ThemableDecorationAttachmentRenderOptions: ['contentText'],
  TreeItem: ['label', 'description', 'tooltip'],
  TreeItemLabel: ['label'],
  TreeView: ['title', 'message', 'description'],
  ViewBadge: ['tooltip'],
  WebviewPanel: ['title'],
  WebviewView: ['title', 'description'],
  WorkspaceEditEntryMetadata: ['label', 'description'],
};

/** By function of VS Code: which of its arguments are shown. -1 stands for the first and every one after it. */
export const SHOWN_ARGUMENTS = {
  'window.showInformationMessage': [-1],
  'window.showWarningMessage': [-1],
  'window.showErrorMessage': [-1],
  'window.setStatusBarMessage': [0],
  'window.createOutputChannel': [0],
  'window.createTerminal': [0],
  'window.createWebviewPanel': [1],
  'window.showQuickPick': [0],
  'MarkdownString.appendMarkdown': [0],
  'MarkdownString.appendText': [0],
  'ChatResponseStream.markdown': [0],
  'ChatResponseStream.progress': [0],
  'FileSystemError.FileNotFound': [0],
  'FileSystemError.NoPermissions': [0],
  'FileSystemError.Unavailable': [0],
  'Progress.report': [0],
};

/** By class of VS Code: which arguments of its constructor are shown. */
export const SHOWN_WHEN_MADE = {
  CodeAction: [0],
  Diagnostic: [1],
  DocumentSymbol: [0, 1],
  Hover: [0],
  InlayHint: [1],
  MarkdownString: [0],
  TreeItem: [0],
};

/** By command of VS Code: which arguments after its id are titles. */
export const SHOWN_BY_COMMANDS = { 'vscode.diff': [2], 'vscode.changes': [0] };

/** Of the DOM: properties, methods whose strings become text, and attributes. */
export const SHOWN_IN_PAGE = {
  properties: ['alt', 'ariaLabel', 'ariaDescription', 'innerText', 'placeholder', 'textContent', 'title'],
  methods: [
    'append',
    'prepend',
    'replaceChildren',
    'replaceWith',
    'before',
    'after',
    'createTextNode',
    'appendData',
  ],
  attributes: [
    'alt',
    'aria-label',
    'aria-description',
    'aria-roledescription',
    'aria-valuetext',
    'placeholder',
    'title',
  ],
};
