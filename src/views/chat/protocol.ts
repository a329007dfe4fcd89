import * as z from 'zod/mini';
import { MAX_IMAGE_BYTES } from '../../agent/model/messages.ts';

/**
 * The messages between the chat panel's webview and its host. Both sides validate with these schemas: the host because a
 * webview is untrusted, the webview because a restored one may be older than its host.
 */

/** What the buttons below a failed answer and a notice do. */
const chatActions = ['showLog', 'setApiKey', 'selectModel', 'continue', 'manageTrust'] as const;
export type ChatAction = (typeof chatActions)[number];
/** The actions on everything that is pending. */
const reviewActions = ['open', 'applyAll', 'discardAll'] as const;
export type ReviewAction = (typeof reviewActions)[number];

/** The most characters of a code block that can be proposed: the limit for files. */
const MAX_CODE_CHARS = 5_000_000;
/** The most characters of a prompt. */
export const MAX_PROMPT_CHARS = 1_000_000;
const action = z.enum(['apply', 'discard']);
const mode = z.enum(['recommend', 'apply', 'none']);
const previewId = z.string().check(z.regex(/^p[1-9]\d*$/));

/** The most previews of one turn that can be undone together. */
export const MAX_TURN_PREVIEWS = 1_000;
/** The most attachments of one prompt. */
export const MAX_ATTACHMENTS = 20;
const line = z.int().check(z.minimum(1));
/** The most characters of a call's input, and of its result, that are shown. */
export const MAX_SHOWN_CHARS = 6_000;
/** The longest base64 text of an image, and of its address in the panel. */
const MAX_IMAGE_CHARS = Math.ceil(MAX_IMAGE_BYTES / 3) * 4;
const imageRef = z.object({
  file: z.string().check(z.maxLength(200)),
  type: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
  bytes: z.int(),
  /** Its address in the panel; the host sets it. */
  src: z.string().check(z.maxLength(4_000)),
});
/** A file in the workspace, a range of its lines, or a stored image. A file is read when the prompt is sent. */
export const attachmentRef = z.object({
  /** Workspace path; for an image any name. */
  path: z.string().check(z.minLength(1), z.maxLength(4_000)),
  startLine: z.optional(line),
  endLine: z.optional(line),
  image: z.optional(imageRef),
});
export type AttachmentRef = z.infer<typeof attachmentRef>;

/** From the webview. */
export const webviewMessage = z.discriminatedUnion('type', [
  /** The webview is ready for a snapshot. */
  z.object({ type: z.literal('ready') }),
  z.object({
    type: z.literal('prompt'),
    text: z.string().check(z.minLength(1), z.maxLength(MAX_PROMPT_CHARS)),
    attachments: z.optional(z.array(attachmentRef).check(z.maxLength(MAX_ATTACHMENTS))),
  }),
  /** The prompt is longer than one may be. It stays in the input. */
  z.object({ type: z.literal('promptTooLong') }),
  z.object({ type: z.literal('stop') }),
  /** Takes a prompt back that waits; to edit it, into the input. */
  z.object({ type: z.literal('takeBack'), id: z.string().check(z.maxLength(20)), edit: z.boolean() }),
  z.object({ type: z.literal('review'), action: z.enum(reviewActions) }),
  /** Resolves the revision that is shown. */
  z.object({
    type: z.literal('resolve'),
    id: previewId,
    revision: z.int().check(z.minimum(1)),
    action,
    reason: z.optional(z.string().check(z.maxLength(MAX_PROMPT_CHARS))),
  }),
  /** Rebases a stale preview. */
  z.object({ type: z.literal('rebase'), id: previewId }),
  /** Undoes an applied preview, or proposes a discarded one again. */
  z.object({ type: z.enum(['undo', 'reopen']), id: previewId }),
  /** Undoes what these previews applied, in this order. */
  z.object({ type: z.literal('undoTurn'), ids: z.array(previewId).check(z.maxLength(MAX_TURN_PREVIEWS)) }),
  /** Opens the proposal for editing, at its conflicts if it has any. */
  z.object({ type: z.literal('edit'), id: previewId }),
  /** Opens a preview or, with a path, the diff of that file. */
  z.object({
    type: z.literal('open'),
    id: previewId,
    path: z.optional(z.string().check(z.maxLength(4_000))),
  }),
  /** Opens a file that an answer or a call names, at a line. */
  z.object({
    type: z.literal('openFile'),
    path: z.string().check(z.minLength(1), z.maxLength(4_000)),
    line: z.optional(line),
  }),
  /** Stages a code block as the whole content of the file that it names. */
  z.object({
    type: z.literal('propose'),
    path: z.string().check(z.minLength(1), z.maxLength(4_000)),
    code: z.string().check(z.maxLength(MAX_CODE_CHARS)),
  }),
  /** Asks the last prompt again, from before it. */
  z.object({ type: z.literal('retry') }),
  /** Applies the revision of the preview that the editor shows; opens one if none is shown. */
  z.object({ type: z.literal('applyShown') }),
  /** Reverts to a message or, for a prompt, to before it. */
  z.object({ type: z.literal('revert'), node: z.int().check(z.minimum(0)) }),
  z.object({ type: z.literal('setMode'), mode }),
  z.object({ type: z.literal('setPlanMode'), on: z.boolean() }),
  /** The user pasted an image: its bytes in base64, or only their number if there are too many. */
  z.object({
    type: z.literal('pasteImage'),
    name: z.string().check(z.maxLength(200)),
    data: z.string().check(z.maxLength(MAX_IMAGE_CHARS)),
    bytes: z.int(),
  }),
  /** The user wants to choose an attachment. */
  z.object({ type: z.literal('attach') }),
  /** The text typed after `@`; answered by `files` with the same request number. */
  z.object({ type: z.literal('findFiles'), request: z.int(), query: z.string().check(z.maxLength(1_000)) }),
  z.object({ type: z.literal('action'), name: z.enum(chatActions) }),
  z.object({ type: z.literal('openLink'), url: z.string().check(z.maxLength(8_000)) }),
]);
export type WebviewMessage = z.infer<typeof webviewMessage>;

/** How many lines are added and removed; not exact for texts that are too different to compare them line by line. */
const lineStat = z.object({ added: z.int(), removed: z.int(), exact: z.boolean() });
export type LineStat = z.infer<typeof lineStat>;
/** A text, and how many characters the whole of it has if this is only its beginning. */
const shownText = z.object({ text: z.string(), length: z.optional(z.int()) });
export type ShownText = z.infer<typeof shownText>;
const fileRow = z.object({
  path: z.string(),
  /** The old path of a rename. */
  from: z.optional(z.string()),
  change: z.enum(['modify', 'create', 'delete', 'rename']),
  /** Left out while unknown. */
  stat: z.optional(lineStat),
});
export type FileRow = z.infer<typeof fileRow>;

const key = z.string();
const actor = z.enum(['human', 'model', 'extension']);
/** `PreviewProblem`: of long lists the first names, and how many more there are. */
const problem = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('conflicts'),
    files: z.array(z.object({ path: z.string(), count: z.int() })),
    more: z.optional(z.int()),
  }),
  z.object({ kind: z.literal('stale'), paths: z.array(z.string()), more: z.optional(z.int()) }),
  z.object({ kind: z.literal('failed'), error: z.string() }),
]);
export type CardProblem = z.infer<typeof problem>;
/** `PreviewOutcome`. All texts in it are foreign, and their invisible characters escaped. */
const cardState = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('pending'),
    problem: z.optional(problem),
    recommendation: z.optional(z.object({ action, reason: z.string() })),
  }),
  z.object({ kind: z.literal('applying'), action }),
  z.object({
    kind: z.enum(['applied', 'undone', 'discarded']),
    actor,
    /** The agent of another program that resolved its own preview, such as `Claude Code 2.1.0`. */
    agent: z.optional(z.string()),
    reason: z.optional(z.string()),
  }),
  /** It was applied, and returned an error. */
  z.object({ kind: z.literal('failed'), error: z.string() }),
  z.object({ kind: z.literal('expired'), reason: z.optional(z.string()), wasInterrupted: z.boolean() }),
]);
export type CardState = z.infer<typeof cardState>;
/** The preview that proposes again what was discarded; once that is resolved, the state is its state. */
const reopenedAs = z.object({ id: previewId, isOpen: z.boolean() });
/** What can be done about an outcome: to redo undoes the preview that undid it. */
const remedy = z.object({ type: z.enum(['undo', 'redo', 'reopen']), id: previewId });
/** A hunk or file that was resolved by itself. */
const partRow = z.object({
  id: previewId,
  /** The name of its file; left out for what was left of the preview. */
  file: z.optional(z.string()),
  /** Left out if it is a whole file. */
  hunk: z.optional(z.int()),
  state: cardState,
  reopenedAs: z.optional(reopenedAs),
  remedy: z.optional(remedy),
});
export type PartRow = z.infer<typeof partRow>;
const previewItem = z.object({
  kind: z.literal('preview'),
  key,
  id: previewId,
  revision: z.int(),
  label: z.string(),
  source: z.string(),
  /** The agent of another program that proposed it. */
  agent: z.optional(z.string()),
  files: z.array(fileRow),
  /** How many files are not listed. */
  moreFiles: z.int(),
  /** The sum over all files, if there are several and it is known. */
  stat: z.optional(lineStat),
  state: cardState,
  reopenedAs: z.optional(reopenedAs),
  /** What the command of the preview wrote, or its result. */
  output: z.optional(z.string()),
  remedy: z.optional(remedy),
  /** Its hunks and files that were resolved by themselves, with what is left once that is resolved too, and counts of hunks. */
  parts: z.optional(
    z.object({
      rows: z.array(partRow),
      counts: z.object({ applied: z.int(), discarded: z.int(), undone: z.int(), left: z.int() }),
    }),
  ),
  /** The call that staged it, to unfold. */
  call: z.optional(z.object({ name: z.string(), input: shownText, output: shownText })),
  /** Its command is running and can be stopped. */
  canStop: z.boolean(),
  /** The plan, as Markdown, while it waits; unfolded at first if the user edited it, since the answer above shows another one. */
  plan: z.optional(z.object({ text: z.string(), isUnfolded: z.boolean() })),
});
const resolveItem = z.object({
  kind: z.literal('resolve'),
  key,
  outcome: z.enum(['running', 'accept', 'discard', 'failed', 'recommendApply', 'recommendDiscard', 'submit']),
  /** What it was about: the English label, and the title in the user's language. */
  label: z.optional(z.string()),
  title: z.optional(z.string()),
  /** The tool that staged it. */
  source: z.optional(z.string()),
  actor,
  reason: z.optional(z.string()),
  detail: z.optional(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('finishedLater') }),
      z.object({ kind: z.literal('returnedError'), message: z.string() }),
      z.object({ kind: z.literal('notDone'), action, message: z.string() }),
      z.object({ kind: z.literal('text'), text: z.string() }),
    ]),
  ),
});

const toolItem = z.object({
  kind: z.literal('tool'),
  key,
  name: z.string(),
  summary: z.string(),
  status: z.enum(['running', 'done', 'failed']),
  /** The file that it names, to open. */
  file: z.optional(z.object({ path: z.string(), line: z.optional(line) })),
  /** The progress that a running call reports, on one line. */
  progress: z.optional(z.string()),
  input: shownText,
  output: shownText,
});

/** One entry of the message list. A key identifies the same entry for the lifetime of the session. */
export const viewItem = z.discriminatedUnion('kind', [
  /** Above the previews from elsewhere, and below them if there are more; above a conversation whose beginning is left out. */
  z.object({
    kind: z.literal('heading'),
    key,
    heading: z.discriminatedUnion('about', [
      z.object({ about: z.literal('alsoPending') }),
      z.object({ about: z.enum(['morePending', 'earlier']), count: z.int() }),
    ]),
  }),
  z.object({
    kind: z.literal('notice'),
    key,
    notice: z.discriminatedUnion('about', [
      /** The workspace is not trusted: its custom tools are not loaded. */
      z.object({ about: z.literal('withheldTools'), files: z.array(z.string()), isAll: z.boolean() }),
      /** A preview is left to the user. */
      z.object({ about: z.enum(['notDecided', 'keptFailing']), id: z.string() }),
      /** A revert has left so many changes in the files; the preview undoes them. */
      z.object({ about: z.literal('stillApplied'), count: z.int(), id: previewId }),
      z.object({ about: z.literal('other'), text: z.string() }),
    ]),
  }),
  z.object({
    kind: z.literal('user'),
    key,
    /** The node to revert to; left out if reverting is not possible. */
    node: z.optional(z.int()),
    text: z.string(),
    attachments: z.array(
      z.object({
        path: z.string(),
        startLine: z.optional(line),
        endLine: z.optional(line),
        /** Why it was not attached, or not as it was. */
        problem: z.optional(z.string()),
        /** The address of an image in the panel. */
        src: z.optional(z.string()),
      }),
    ),
    /** Its id in the queue, while it waits for its turn. */
    queued: z.optional(z.string()),
  }),
  /** The outcome of a local slash command, as Markdown. */
  z.object({ kind: z.literal('local'), key, text: z.string() }),
  z.object({
    kind: z.literal('assistant'),
    key,
    node: z.optional(z.int()),
    text: z.string(),
    /** What the model thought before it answered; empty if the server does not tell. */
    reasoning: z.string(),
    streaming: z.boolean(),
    /** Why it is not complete. */
    incomplete: z.optional(z.enum(['stopped', 'cutOff'])),
    /** It is the last answer, and its prompt can be asked again. */
    canRetry: z.boolean(),
  }),
  toolItem,
  /** Finished calls in a row. */
  z.object({ kind: z.literal('tools'), key, calls: z.array(toolItem) }),
  previewItem,
  resolveItem,
  /** What the model applied in a turn by itself, and in how many files. */
  z.object({ kind: z.literal('turn'), key, files: z.int(), ids: z.array(previewId) }),
  /** A failed answer; without a text, the model just did not answer. */
  z.object({
    kind: z.literal('error'),
    key,
    text: z.optional(z.string()),
    actions: z.array(z.enum(chatActions)),
  }),
  /** Earlier messages were replaced for the model by this text. */
  z.object({ kind: z.literal('summary'), key, node: z.optional(z.int()), text: z.string() }),
  /** A button that connects a model. */
  z.object({ kind: z.literal('connect'), key }),
]);
export type ViewItem = z.infer<typeof viewItem>;
export type ItemOf<Kind extends ViewItem['kind']> = Extract<ViewItem, { kind: Kind }>;

const tokens = z.object({ inputTokens: z.number(), outputTokens: z.number() });
const status = z.object({
  state: z.enum(['idle', 'running', 'awaitingReview']),
  mode,
  planMode: z.boolean(),
  model: z.string(),
  /** No model is connected. */
  offline: z.boolean(),
  /** The tokens that the session and its last request used, as reported by the server; left out before the first count. */
  usage: z.optional(z.object({ session: tokens, last: tokens })),
  /** How full the model's context window is; left out before the first prompt and without a model. */
  context: z.optional(
    z.object({
      tokens: z.number(),
      window: z.number(),
      isCounted: z.boolean(),
      isWindowKnown: z.boolean(),
    }),
  ),
  /** What is pending, in how many files and, unless it is too much to count, its lines; left out if nothing is. */
  review: z.optional(z.object({ previews: z.int(), files: z.int(), stat: z.optional(lineStat) })),
  /** The files with the project's instructions that the last request contained. */
  instructions: z.array(z.object({ path: z.string(), isCut: z.boolean() })),
  /** What there is to say beyond the state. */
  activity: z.optional(
    z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('tool'), name: z.string() }),
      z.object({ kind: z.literal('summarizing') }),
      /** The request is sent again in so many seconds. */
      z.object({
        kind: z.literal('retrying'),
        code: z.enum(['rateLimited', 'server']),
        seconds: z.number(),
      }),
      /** A review has just ended like this. */
      z.object({ kind: z.literal('reviewed'), text: z.string() }),
    ]),
  ),
});
export type ChatStatus = z.infer<typeof status>;

/** To the webview. */
export const hostMessage = z.discriminatedUnion('type', [
  /** Comes first: the texts of VS Code's display language by the English ones; empty for English. */
  z.object({ type: z.literal('language'), texts: z.record(z.string(), z.string()) }),
  /** Everything to show; replaces what was shown before. */
  z.object({
    type: z.literal('snapshot'),
    /** For the completion list behind `/`. */
    commands: z.array(z.object({ name: z.string(), usage: z.string(), about: z.string() })),
    items: z.array(viewItem),
    status,
  }),
  /** What changed since the last message. */
  z.object({
    type: z.literal('delta'),
    /** New and changed items. */
    items: z.array(viewItem),
    /** Text and reasoning to append to an assistant item. */
    texts: z.array(z.object({ key, append: z.string(), reasoning: z.string() })),
    /** The keys of all items from the first to the last, if that changed. */
    order: z.optional(z.array(z.string())),
    status: z.optional(status),
  }),
  /** Moves the focus to the composer. */
  z.object({ type: z.literal('focus') }),
  /** Adds attachments to the next prompt. */
  z.object({ type: z.literal('attached'), refs: z.array(attachmentRef) }),
  /** Puts prompts that are not sent, or were reverted, into the input, before what is typed there. */
  z.object({ type: z.literal('putBack'), text: z.string(), refs: z.array(attachmentRef) }),
  /** Scrolls to the item with that key, or the first one below it, and focuses it. */
  z.object({ type: z.literal('show'), key }),
  /** Workspace paths that match a `findFiles`, best first. */
  z.object({ type: z.literal('files'), request: z.int(), paths: z.array(z.string()) }),
]);
export type HostMessage = z.infer<typeof hostMessage>;
export type DeltaMessage = Extract<HostMessage, { type: 'delta' }>;
