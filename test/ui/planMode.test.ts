/** Plan mode by the real buttons: from proposal to refinement to approval. */
import assert from 'node:assert/strict';
import { startScriptedServer } from '../support/scriptedServer.ts';
import { drivenTest } from './support/drivenWorkbench.ts';

const FIRST = '1. Multiply the price by the quantity in `src/cart.ts`.\n2. Say so in the README.';
const SECOND = `${FIRST}\n3. Run the tests before and after.`;
const submit = (text: string, title: string) => ({
  text,
  toolCalls: [
    { name: 'resolve', arguments: { action: 'apply', reason: 'It is complete.', extra: { title } } },
  ],
});

drivenTest(
  'a plan is proposed, sent back with a note, refined, edited, approved and carried out',
  {},
  async driven => {
    const { workbench } = driven;
    const server = await startScriptedServer([
      submit(FIRST, 'Count every item'),
      submit(SECOND, 'Count every item, with tests'),
      { text: 'On it.' },
    ]);
    const lens = (title: string) =>
      workbench.page.locator('.codelens-decoration a').filter({ hasText: title });
    const lastSaid = async (n: number): Promise<unknown> =>
      (await server.request(n)).body.messages.at(-1)?.content;
    const prefixOf = async (n: number): Promise<string> => {
      const { messages, tools } = (await server.request(n)).body;
      return JSON.stringify([messages[0], tools]);
    };
    try {
      await driven.run(async ({ vscode }, baseUrl) => {
        const settings = vscode.workspace.getConfiguration('redline');
        for (const [key, value] of Object.entries({
          'openai.baseUrl': baseUrl,
          'openai.model': 'scripted',
          provider: 'openai',
        }))
          await settings.update(key, value, vscode.ConfigurationTarget.Global);
      }, server.baseUrl);
      await workbench.openRedlineChat();
      await workbench.runCommand('Redline: Toggle Plan Mode');
      await workbench.sendChat('Plan how to count every item.');

      await workbench.editorTab('Plan: Count every item (Redline)').waitFor();
      await lens('Approve').waitFor();
      await workbench.page
        .locator('.breadcrumbs-control .monaco-icon-label')
        .getByText('plan.redline-document', { exact: true })
        .waitFor();
      await workbench.picture('plan-proposed');
      const said = JSON.stringify((await server.request(0)).body.messages);
      assert.match(said, /Plan mode is on: explore with the read-only tools/);
      const shown = await driven.run(({ vscode }) => {
        const document =
          vscode.window.activeTextEditor?.document ?? vscode.window.visibleTextEditors[0]?.document;
        return { text: document?.getText(), language: document?.languageId };
      });
      assert.equal(shown.language, 'redline-document');
      assert.equal(shown.text, `${FIRST}\n`);

      await lens('Send Back…').click();
      const reason = workbench.page.locator('.quick-input-widget:visible input.input');
      await reason.fill('Keep the tests');
      // The plan can be read once more, and what has been typed is still there.
      await workbench.page.locator('.editor-instance .view-line').last().click();
      assert.equal(await reason.inputValue(), 'Keep the tests');
      await workbench.answerInput('Keep the tests green');
      await workbench.editorTab('Plan: Count every item (Redline)').waitFor({ state: 'detached' });
      assert.equal(
        await lastSaid(1),
        'The user sent the plan (p1) back: "Keep the tests green"\nPlan mode is still on: if a plan is still wanted, refine it and submit it again.',
      );
      assert.equal(await prefixOf(1), await prefixOf(0));

      await workbench.editorTab('Plan: Count every item, with tests (Redline)').waitFor();
      await workbench.picture('plan-refined');
      // The card shows it rendered, under its own title.
      const card = workbench.chatFrame().locator('[data-kind="preview"][data-preview-id="p2"]');
      await card.getByText('Plan: Count every item, with tests').waitFor();
      await card.locator('.plan > summary').click();
      await card.locator('.plan-body li').nth(2).waitFor();
      await workbench.picture('plan-card');

      // The user edits it: saving makes the next revision, which the card shows.
      await lens('More…').click();
      await workbench.quickPick('Edit');
      await workbench.page
        .locator('.codelens-decoration')
        .filter({ hasText: 'You can edit this side' })
        .waitFor();
      await driven.run(async ({ vscode }, text) => {
        const editor = vscode.window.activeTextEditor;
        if (!editor) throw new Error('no editor is active');
        await editor.edit(edit => edit.insert(new vscode.Position(editor.document.lineCount - 1, 0), text));
      }, '4. Tell me.\n');
      await lens('Save & Approve').waitFor();
      await workbench.picture('plan-edited');
      await workbench.page.keyboard.press('ControlOrMeta+s');
      await card.locator('.plan-body li').nth(3).waitFor();
      await workbench.picture('plan-revised');
      // Until then, the lens would be the one that saves.
      await lens('Save & Approve').waitFor({ state: 'detached' });

      await lens('Approve').click();
      await workbench.editorTab('(Redline)').waitFor({ state: 'detached' });
      // What the user changed comes first, then the approval.
      assert.equal(
        await lastSaid(2),
        `The user edited the plan (p2), which is now at revision 2. It reads:\n\`\`\`\n${SECOND}\n4. Tell me.\n\`\`\`\n` +
          'The user approved the plan (p2): carry it out now.',
      );
      assert.equal(await prefixOf(2), await prefixOf(0));
      await workbench.chatFrame().locator('.log').getByText('On it.').waitFor();
      await driven.until('the session to rest', ({ api }) =>
        api.session.state === 'idle' ? true : undefined,
      );
      await workbench.picture('plan-approved');
      const ledger = await driven.run(({ api }) =>
        api.previews
          .ledger()
          .map(({ label, sourceToolName, actor, outcome }) => [label, sourceToolName, actor, outcome]),
      );
      assert.deepEqual(ledger, [
        ['Plan ready for approval', 'plan_approval', 'human', 'discarded'],
        ['Plan ready for approval', 'plan_approval', 'human', 'applied'],
      ]);
      assert.equal(server.requests.length, 3, 'a plan that is submitted ends the turn');
    } finally {
      await server.close();
    }
    assert.deepEqual(server.violations, []);
  },
);
