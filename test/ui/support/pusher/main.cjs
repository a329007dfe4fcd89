const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

/** The command stages each action of the workspace's push.json. */
exports.activate = context => {
  context.subscriptions.push(
    vscode.commands.registerCommand('pusher.push', async () => {
      const redline = await vscode.extensions.getExtension('redline.redline').activate();
      const [folder] = vscode.workspace.workspaceFolders;
      const actions = JSON.parse(fs.readFileSync(path.join(folder.uri.fsPath, 'push.json'), 'utf8'));
      for (const action of actions) redline.previews.push(action);
    }),
  );
};
