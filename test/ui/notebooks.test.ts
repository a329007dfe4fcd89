import assert from 'node:assert/strict';
import { drivenTest, type DrivenWorkbench } from './support/drivenWorkbench.ts';

function notebook(code: string): string {
  const cells = [{ cell_type: 'code', execution_count: null, metadata: {}, outputs: [], source: [code] }];
  const metadata = { language_info: { name: 'python' } };
  return `${JSON.stringify({ cells, metadata, nbformat: 4, nbformat_minor: 5 }, null, 1)}\n`;
}

const push = (driven: DrivenWorkbench, path: string, before: string | null, after: string): Promise<string> =>
  driven.run(
    ({ api }, [file, old, text]) =>
      api.previews.push({
        label: `Edit ${file}`,
        sourceToolName: 'test',
        changes: [{ path: file, before: old, after: text }],
      }).id,
    [path, before, after] as const,
  );

drivenTest('a notebook opens in the diff of notebooks, and as text where it is none', {}, async driven => {
  const { workbench } = driven;
  const { page } = workbench;
  workbench.writeFile('book.ipynb', notebook('print(1)'));
  await push(driven, 'book.ipynb', notebook('print(1)'), notebook('print(2)'));
  await workbench.openRedlineChat();
  await workbench.clickTreeRow('Edit book.ipynb');
  await page.locator('.notebook-text-diff-editor').getByText('Input changed').waitFor();
  await workbench.treeRow('viewed').waitFor();
  await workbench.editorTitleAction('Apply Preview').click();
  await workbench.waitForFile('book.ipynb', text => text === notebook('print(2)'));
  await workbench.editorTab('book.ipynb (Redline)').waitFor({ state: 'detached' });

  await push(driven, 'broken.ipynb', null, 'no notebook\n');
  await workbench.clickTreeRow('Edit broken.ipynb');
  await page.locator('.editor.modified .view-line').filter({ hasText: 'no' }).first().waitFor();
  await workbench.editorTitleAction('Discard Preview').click();
  await workbench.editorTab('(Redline)').waitFor({ state: 'detached' });
  assert.equal(workbench.readFile('broken.ipynb'), undefined);
});
