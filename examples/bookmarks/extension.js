// A second extension that gives the agent a tool. Each call of the tool waits in Redline as a preview: the bookmark is set
// when the user (or, in Auto mode, the model) applies it, and not before.
const vscode = require('vscode');

/** @param {vscode.ExtensionContext} context */
exports.activate = async context => {
  const redline = await vscode.extensions.getExtension('redline.redline').activate();
  const bookmarks = () => context.workspaceState.get('bookmarks', []);

  const registration = redline.registerTool(pi => ({
    name: 'add_bookmark',
    label: 'Add Bookmark',
    description: 'Propose a bookmark on a line of a file. It is set once it has been applied.',
    parameters: pi.zod.object({
      path: pi.zod.string().describe('Path inside the workspace.'),
      line: pi.zod.int().min(1),
      note: pi.zod.string().describe('Why the line matters, in a few words.'),
    }),
    async execute(_toolCallId, { path, line, note }) {
      pi.pushPendingAction({
        label: `Bookmark ${path}:${line}`,
        sourceToolName: 'add_bookmark',
        details: { path, line, note },
        async apply() {
          await context.workspaceState.update('bookmarks', [...bookmarks(), { path, line, note }]);
          return { content: [{ type: 'text', text: `Bookmarked ${path}:${line}.` }] };
        },
      });
      return { content: [{ type: 'text', text: `Prepared a bookmark on ${path}:${line}.` }] };
    },
  }));

  context.subscriptions.push(
    registration,
    vscode.commands.registerCommand('bookmarks.show', () =>
      vscode.window.showQuickPick(bookmarks().map(({ path, line, note }) => `${path}:${line} ${note}`)),
    ),
    // Removes the tool at once. Its previews can no longer be applied, so they expire.
    vscode.commands.registerCommand('bookmarks.withdraw', () => registration.dispose()),
  );
  return { bookmarks };
};
