import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { after } from 'node:test';
import * as path from 'node:path';
import { removeTemporaryFolder, temporaryFolder } from '../../scripts/lib/cleanup.mjs';
import { exactLens, lensText, proposedLine, storedLedger, revertArrow } from './support/diffPage.ts';
import { drivenTest } from './support/drivenWorkbench.ts';
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

drivenTest(
  'of twelve files in the multi-file diff two are discarded and the rest is applied',
  {},
  async driven => {
    const { workbench } = driven;
    const name = (n: number): string => `part${String(n).padStart(2, '0')}.txt`;
    const numbers = Array.from({ length: 12 }, (_, i) => i + 1);
    for (const n of numbers) workbench.writeFile(name(n), `old ${n}\n`);
    await workbench.openRedlineChat();
    await driven.run(({ api }, paths) => {
      const changes = paths.map(path => {
        const n = Number(/\d+/.exec(path)?.[0]);
        return { path, before: `old ${n}\n`, after: `new ${n}\n` };
      });
      api.previews.push({ label: 'Renew twelve files', sourceToolName: 'test', changes });
    }, numbers.map(name));
    await workbench.clickTreeRow('Renew twelve files');
    for (const left of [11, 10]) {
      await exactLens(workbench, 'Discard').click();
      await driven.until(
        'a file to be discarded',
        ({ api }, count) => (api.previews.get('p1')?.files.length === count ? true : undefined),
        left,
      );
    }
    await lensText(workbench, 'Reopen').waitFor();
    await workbench.editorTitleAction('Apply Preview').click();
    await workbench.waitForFile(name(12), text => text === 'new 12\n');
    await workbench.editorTab('Renew twelve files (Redline)').waitFor({ state: 'detached' });
    const discarded = numbers.filter(n => workbench.readFile(name(n)) === `old ${n}\n`);
    assert.equal(discarded.length, 2);
    for (const n of numbers.filter(candidate => !discarded.includes(candidate))) {
      assert.equal(workbench.readFile(name(n)), `new ${n}\n`);
    }
    assert.deepEqual(
      storedLedger(workbench).map(({ outcome, files }) => [outcome, files.length]),
      [
        ['discarded', 1],
        ['discarded', 1],
        ['applied', 10],
      ],
    );
  },
);

/** Two folders, each with its own `files.encoding`. */
const twoFolders = temporaryFolder('redline-');
after(() => removeTemporaryFolder(twoFolders));
const ENCODINGS = { letters: 'iso88591', notes: 'utf8' } as const;
for (const [name, encoding] of Object.entries(ENCODINGS)) {
  fs.mkdirSync(path.join(twoFolders, name, '.vscode'), { recursive: true });
  fs.writeFileSync(
    path.join(twoFolders, name, '.vscode', 'settings.json'),
    JSON.stringify({ 'files.encoding': encoding }),
  );
}
const bothFolders = path.join(twoFolders, 'both.code-workspace');
fs.writeFileSync(
  bothFolders,
  JSON.stringify({ folders: Object.keys(ENCODINGS).map(name => ({ path: name })) }),
);

drivenTest(
  'in a window of two folders each file is shown and written in the encoding of its own folder',
  { workspace: bothFolders },
  async driven => {
    await driven.untilFolders(Object.keys(ENCODINGS).map(name => path.join(twoFolders, name)));
    for (const [name, encoding] of Object.entries(ENCODINGS)) {
      const bytes = (text: string): Buffer =>
        Buffer.from(text, encoding === 'iso88591' ? 'latin1' : encoding);
      const file = path.join(twoFolders, name, 'menu.txt');
      fs.writeFileSync(file, bytes('caf\u00e9\ntea\n'));
      const shown = await driven.run(
        async ({ api, vscode }, { file, prompt }) => {
          await api.session.prompt(prompt);
          const id = api.previews.peek()?.id ?? '';
          const proposal = { scheme: 'redline-preview', authority: id, path: vscode.Uri.file(file).path };
          const read = async (query: string): Promise<string> => {
            const stored = await vscode.workspace.fs.readFile(vscode.Uri.from({ ...proposal, query }));
            return Buffer.from(stored).toString('utf8').replace('\ufeff', '');
          };
          const sides = { base: await read('base'), proposal: await read('') };
          await api.previews.resolve({ id, action: 'apply', reason: 'test' });
          return sides;
        },
        { file, prompt: `/edit ${name}/menu.txt :: tea => th\u00e9` },
      );
      assert.deepEqual(shown, { base: 'caf\u00e9\ntea\n', proposal: 'caf\u00e9\nth\u00e9\n' });
      assert.deepEqual(fs.readFileSync(file), bytes('caf\u00e9\nth\u00e9\n'), name);
    }
  },
);

uiTest(
  'when the first of three stacked previews is discarded, the others rebase: one cleanly, one with a conflict that is settled by hand',
  {},
  async workbench => {
    workbench.writeFile('count.txt', TEXT);
    await workbench.openRedlineChat();
    for (const edit of ['two => TWO', 'eleven => ELEVEN', 'TWO => DEUX']) {
      await workbench.sendChat(`/edit count.txt :: ${edit}`);
      await workbench.treeRow(edit.replace('=>', '→')).waitFor();
    }
    await workbench.clickTreeRow('→ DEUX');
    await exactLens(workbench, 'Apply all 3 changes').waitFor();
    // The rows are drawn anew once it was in view for a second; a click just then is refused.
    await workbench.treeRow('→ DEUX').filter({ hasText: 'viewed' }).waitFor();

    await workbench.treeAction('→ TWO', 'Discard Preview');
    await lensText(workbench, 'Stale: count.txt').waitFor();
    await workbench.clickTreeRow('→ ELEVEN');
    await exactLens(workbench, 'Apply').waitFor();
    await proposedLine(workbench, 'two').waitFor();

    // What is typed into the file meanwhile becomes the base, and stays.
    await workbench.openFile('count.txt');
    // The line is made first: Enter after a word may accept what VS Code suggests.
    for (const key of ['Control+Home', 'Enter', 'ArrowUp']) await workbench.page.keyboard.press(key);
    await workbench.page.keyboard.type('zero');
    await workbench.clickTreeRow('→ ELEVEN');
    await proposedLine(workbench, 'zero').waitFor();
    await exactLens(workbench, 'Apply').click();
    await workbench.treeRow('→ ELEVEN').waitFor({ state: 'detached' });
    assert.equal(workbench.readFile('count.txt'), TEXT);
    await workbench.openFile('count.txt');
    await workbench.page.keyboard.press('Control+S');
    const typed = `zero\n${TEXT.replace('eleven', 'ELEVEN')}`;
    await workbench.waitForFile('count.txt', text => text === typed);

    await workbench.clickTreeRow('→ DEUX');
    await exactLens(workbench, 'Rebase').click();
    await proposedLine(workbench, '<<<<<<< current file').waitFor();
    await revertArrow(workbench).waitFor();
    await exactLens(workbench, 'Accept Both').waitFor();
    await workbench.treeRow('1 conflict left').waitFor();
    await workbench.picture('conflict');
    await proposedLine(workbench, '<<<<<<< current file').click();
    const { keyboard } = workbench.page;
    await keyboard.press('Control+A');
    const settled = typed.replace('two', 'settled');
    await keyboard.insertText(settled);
    await exactLens(workbench, 'Save & Apply').waitFor();
    await keyboard.press('Control+S');
    await lensText(workbench, 'edited by you').waitFor();
    await exactLens(workbench, 'Apply').click();
    await workbench.waitForFile('count.txt', text => text === settled);
  },
);
