import assert from 'node:assert/strict';
import type { Workbench } from './support/workbench.mjs';
import { modelTest } from './support/uiTest.ts';

/** Every way in which text that is taken for HTML would run, each leaving a mark. */
const MARK = '(window.top.owned = window.owned = 1)';
const HTML =
  `<img src=x onerror="${MARK}"><script>${MARK}<\/script><svg onload="${MARK}"></svg>` +
  `<iframe srcdoc="<script>${MARK}<\/script>"></iframe><a href="command:workbench.action.quit">quit</a>`;
/** As far as a file's name may hold it. */
const NAME = '<img src=x onerror=window.owned=1>';
const LINKS =
  '[run](command:workbench.action.closeWindow) [js](javascript:window.owned=1) ![p](data:text/html,x) ' +
  '$(warning) {{7*7}}';

modelTest(
  'script and HTML in file names, labels, reasons, model text and tool output are shown and never run',
  [
    {
      text: `# ${HTML}\n\n- ${HTML}\n\n${LINKS}\n\n\`\`\`html\n${HTML}\n\`\`\`\n\n| ${HTML} |\n|---|\n| ${HTML} |`,
      toolCalls: [
        { name: 'read_file', arguments: { path: `${NAME}.html` } },
        { name: 'read_file', arguments: { path: `missing ${NAME}` } },
        { name: HTML.replace(/[^a-z]/g, '').slice(0, 40), arguments: { [HTML]: HTML } },
      ],
    },
    { toolCalls: [{ name: 'write_file', arguments: { path: `${NAME}.txt`, content: HTML } }] },
    {
      toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: HTML, extra: { title: HTML } } }],
    },
    { text: 'The turn is over.' },
    { toolCalls: [{ name: 'write_file', arguments: { path: `${NAME}.md`, content: HTML } }] },
    { toolCalls: [{ name: 'resolve', arguments: { action: 'discard', reason: `${HTML} ${LINKS}` } }] },
    { text: 'All is said.' },
    { status: 400, body: { error: { message: HTML } } },
  ],
  async workbench => {
    const { page } = workbench;
    const alarms: string[] = [];
    page.on('dialog', dialog => {
      alarms.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    const chat = workbench.chatFrame();
    workbench.writeFile(`${NAME}.html`, HTML);
    await workbench.openRedlineChat();
    await chat.locator('#prompt').pressSequentially(`${HTML} @img`);
    await chat.locator('.suggestion').first().waitFor();
    await chat.locator('#prompt').press('Enter');
    await chat.locator('.composer .chip').waitFor();
    await chat.locator('#prompt').press('Enter');
    await chat.locator('.log').getByText('The turn is over.').waitFor();
    for (const fold of await chat.getByRole('log').locator('summary').all()) await fold.click();
    await lookEverywhere(workbench);
    await workbench.sendChat(`/discard p1 ${HTML}`);
    await chat.locator('.log').getByText('All is said.').waitFor();
    await workbench.sendChat('/discard p1');
    await chat.locator('.log').getByText('is already discarded').waitFor();
    await workbench.sendChat('More');
    await chat.locator('[data-kind="error"]').waitFor();

    assert.deepEqual(await marks(workbench), []);
    assert.deepEqual(alarms, []);
    const foreign = chat.locator(
      'body :is(img, svg:not(.ring), iframe, object, embed, form, style, script:not([nonce]), a:not([href^="http"]))',
    );
    assert.deepEqual(await foreign.evaluateAll(all => all.map(one => one.outerHTML)), []);
    for (const kind of ['user', 'assistant', 'tool', 'preview', 'resolve', 'local', 'error']) {
      const shown = await chat.locator(`[data-kind="${kind}"]`).allTextContents();
      assert.ok(
        shown.some(text => text.includes('<img src=x')),
        kind,
      );
    }
  },
  { workbench: { settings: { 'workbench.hover.delay': 300 } } },
);

/** Shows the texts wherever the window has a place for them. */
async function lookEverywhere(workbench: Workbench): Promise<void> {
  await workbench.treeRow('Create').hover();
  await workbench.statusBarItem('1 pending').hover();
  await workbench.page.locator('.monaco-hover, .workbench-hover').getByText('onerror').first().waitFor();
  await workbench.lens('Create').waitFor();
  await workbench.runCommand('Redline: Show Ledger');
  await workbench.page.locator('.quick-input-title').getByText('Redline Ledger').waitFor();
  await workbench.page.keyboard.press('Escape');
}

/** The frames of the window in which something ran. */
async function marks({ page }: Workbench): Promise<string[]> {
  const owned = await Promise.all(
    page.frames().map(async frame => ((await frame.evaluate("'owned' in window")) ? frame.url() : '')),
  );
  return owned.filter(url => url !== '');
}
