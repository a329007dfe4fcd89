import assert from 'node:assert/strict';
import { startScriptedServer } from '../support/scriptedServer.ts';
import { exactLens, lensText, proposedLine, storedLedger } from './support/diffPage.ts';
import { uiTest } from './support/uiTest.ts';

const NAMES = [
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
];
const TEXT = NAMES.map(name => `${name}\n`).join('');

uiTest(
  'of three hunks one is applied, one discarded, one edited and applied: the file holds exactly that, and the model is told',
  {},
  async workbench => {
    const server = await startScriptedServer((_request, n) =>
      n === 0
        ? {
            toolCalls: [
              {
                name: 'edit_file',
                arguments: {
                  path: 'count.txt',
                  edits: [
                    { old: 'two\n', new: 'TWO\n' },
                    { old: 'six\n', new: 'SIX\n' },
                    { old: 'eleven\n', new: 'ELEVEN\n' },
                  ],
                },
              },
            ],
          }
        : { text: 'Understood.' },
    );
    try {
      workbench.writeFile('count.txt', TEXT);
      await workbench.updateSettings({
        'redline.provider': 'openai',
        'redline.openai.baseUrl': server.baseUrl,
        'redline.openai.model': 'scripted',
        'redline.resolve.modelAuthority': 'none',
      });
      await workbench.openRedlineChat();
      await workbench.sendChat('Count louder.');
      await exactLens(workbench, 'Apply hunk').click();
      const first = TEXT.replace('two', 'TWO');
      await workbench.waitForFile('count.txt', text => text === first);

      await proposedLine(workbench, 'SIX').click();
      await workbench.page.keyboard.press('Control+Shift+Backspace');
      await exactLens(workbench, 'Discard hunk').waitFor({ state: 'detached' });
      await proposedLine(workbench, 'SIX').waitFor({ state: 'detached' });
      assert.equal(workbench.readFile('count.txt'), first);

      await workbench.editorTitleAction('Edit Proposal').click();
      await proposedLine(workbench, 'ELEVEN').click();
      await workbench.page.keyboard.press('End');
      await workbench.page.keyboard.type(' by hand');
      await lensText(workbench, 'Edited: save it').waitFor();
      await workbench.page.keyboard.press('Control+S');
      await lensText(workbench, 'edited by you').waitFor();
      assert.equal(workbench.readFile('count.txt'), first);

      await exactLens(workbench, 'Apply').click();
      const last = first.replace('eleven', 'ELEVEN by hand');
      await workbench.waitForFile('count.txt', text => text === last);
      await workbench.editorTab('count.txt (Redline').waitFor({ state: 'detached' });

      const told = JSON.stringify((await server.request(2)).body.messages);
      assert.match(told, /The user applied p2/);
      assert.match(told, /The user discarded p3/);
      assert.match(
        told,
        /The refused part:\\n--- count\.txt\\n\+\+\+ count\.txt\\n@@ -6,1 \+6,1 @@\\n-six\\n\+SIX/,
      );
      assert.match(told, /The user edited the proposal of p1[^"]*-ELEVEN\\n\+ELEVEN by hand/);
      assert.match(told, /The user applied p1/);
      const ledger = storedLedger(workbench).map(({ previewId, outcome, hunks }) => ({
        previewId,
        outcome,
        hunks,
      }));
      assert.deepEqual(ledger, [
        { previewId: 'p2', outcome: 'applied', hunks: { applied: 1, refused: 0 } },
        { previewId: 'p3', outcome: 'discarded', hunks: { applied: 0, refused: 1 } },
        { previewId: 'p1', outcome: 'applied', hunks: undefined },
      ]);
      assert.deepEqual(server.violations, []);
    } finally {
      await server.close();
    }
  },
);
