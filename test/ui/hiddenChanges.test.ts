import assert from 'node:assert/strict';
import { inRepo } from '../../scripts/lib/paths.mjs';
import { exactLens, lensText } from './support/diffPage.ts';
import { drivenTest } from './support/drivenWorkbench.ts';

const BEFORE = 'if (a) {\n  one();\n  two();\n}\nthree();\nfour();\n';
const AFTER = 'if (a) {\n\tone();\n\ttwo();\n}\nTHREE();\r\nfour(); \n';

drivenTest(
  'lens and title name what the diff hides beside what it shows, and what a rename moves; names show what cannot be seen',
  { pictures: inRepo('out', 'surface-pictures'), viewport: { width: 1400, height: 700 } },
  async driven => {
    const { workbench } = driven;
    workbench.writeFile('code.js', BEFORE);
    workbench.writeFile('\u202etxt.exe', 'text\n');
    await workbench.openRedlineChat();
    await driven.run(
      async ({ api, vscode }, [before, after]) => {
        await vscode.workspace.getConfiguration('redline').update('resolve.modelAuthority', 'none', true);
        const changes = [{ path: 'code.js', before, after }];
        const { id } = api.previews.push({ label: 'Shout \u202ehtap', sourceToolName: 'test', changes });
        await vscode.commands.executeCommand('redline.preview.open', id);
      },
      [BEFORE, AFTER] as const,
    );
    await exactLens(workbench, 'Apply').waitFor();
    for (const note of [
      'indentation differs in 2 lines',
      'trailing spaces differ in 1 line',
      'the line ending differs in 1 line',
    ])
      await lensText(workbench, note).waitFor();
    await workbench
      .editorTab(
        'code.js (Redline) · when opened: indentation differs in 2 lines · trailing spaces differ in 1 line · the line ending differs',
      )
      .waitFor();
    await workbench.treeRow(String.raw`Shout \u{202e}htap`).waitFor();
    await workbench
      .chatFrame()
      .getByText(String.raw`Shout \u{202e}htap`)
      .first()
      .waitFor();
    await workbench.picture('hidden-changes');

    await driven.run(async ({ api, vscode }) => {
      await api.session.prompt('/rename \u202etxt.exe => moved/plain.txt');
      await vscode.commands.executeCommand('redline.preview.open', 'p2');
    });
    await lensText(workbench, String.raw`moved from \u{202e}txt.exe, content unchanged`).waitFor();
    await workbench.editorTab(String.raw`plain.txt (Redline) · moved from \u{202e}txt.exe`).waitFor();
    await workbench.treeRow(String.raw`Rename \u{202e}txt.exe to moved/plain.txt`).waitFor();
    await workbench.picture('hidden-rename');
    await exactLens(workbench, 'Rename').click();
    await workbench.waitForFile('moved/plain.txt', text => text === 'text\n');
    assert.equal(workbench.readFile('code.js'), BEFORE);
  },
);
