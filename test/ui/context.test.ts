/** The context window in the real window: the ring fills, earlier messages are summarized, and a revert brings them back. */
import assert from 'node:assert/strict';
import type { Workbench } from './support/workbench.mjs';
import type { RecordedRequest, Reply } from '../support/scriptedServer.ts';
import { modelTest } from './support/uiTest.ts';

const WINDOW = 8_192;
const SUMMARY =
  'The user wants to know about the prices in src/cart.ts. It was read, and nothing was changed.';

/** Reads a file for each prompt, and summarizes when it is asked without tools. */
function model({ body }: RecordedRequest): Reply {
  const size = Math.ceil(
    (JSON.stringify(body.messages).length + JSON.stringify(body.tools ?? []).length) / 4,
  );
  const usage = { inputTokens: size, outputTokens: 40 };
  if (!body.tools) return { text: SUMMARY, usage };
  if (body.messages.at(-1)?.role === 'tool') return { text: 'It adds up the prices of all items.', usage };
  return { toolCalls: [{ name: 'read_file', arguments: { path: 'src/cart.ts' } }], usage };
}

async function ringOf(workbench: Workbench): Promise<number> {
  return Number(await workbench.chatFrame().locator('.ring').getAttribute('data-percent'));
}

modelTest(
  'The ring shows how full the context window is; what no longer fits is summarized, and a revert brings it back',
  model,
  async (workbench, server) => {
    await workbench.openRedlineChat();
    const chat = workbench.chatFrame();
    const summary = chat.locator('.item.summary');
    const usage = chat.locator('[data-action="usage"]');
    const lorem =
      'Please explain once more how the prices are added up, and what happens to an empty cart. '.repeat(15);
    await workbench.sendChat(`What does it do? ${lorem}`);
    await chat.locator('.item.assistant').first().waitFor();
    const first = await ringOf(workbench);
    assert.ok(first > 20 && first < 80, `${first}%`);
    assert.match(
      (await usage.getAttribute('title')) ?? '',
      /of 8,192 tokens \(\d+%\)\. Counted by the server/,
    );
    await workbench.picture('context-ring');
    let prompts = 1;
    while ((await summary.count()) === 0 && prompts < 15) {
      await workbench.sendChat(`Question ${++prompts}. ${lorem}`);
      await chat
        .locator('.item.assistant')
        .nth(prompts - 1)
        .waitFor();
    }
    assert.equal(await summary.count(), 1, `after ${prompts} prompts`);
    assert.equal((await usage.getAttribute('aria-label'))?.startsWith('Context window: '), true);
    await summary.locator('summary').click();
    await summary.getByText(SUMMARY).waitFor();
    await workbench.picture('context-summary');

    // The window is loaded again. The ring comes with the next request, which asks for the size of the window.
    await workbench.updateSettings({ 'workbench.colorTheme': 'Default High Contrast' });
    await summary.waitFor();
    assert.equal(await chat.locator('.ring').isVisible(), false);
    await workbench.sendChat('And after a reload?');
    await chat.locator('.item.assistant').nth(prompts).waitFor();
    await chat.locator('.ring').waitFor();
    assert.ok((await ringOf(workbench)) > 20);
    await workbench.picture('context-high-contrast');

    await chat.locator('.item.user').nth(1).hover();
    await chat.locator('.item.user').nth(1).locator('[data-action="revert"]').click();
    await summary.waitFor({ state: 'detached' });
    await workbench.sendChat(' And now?');
    await chat.locator('.item.assistant').nth(1).waitFor();
    const last = server.requests.at(-1)?.body.messages ?? [];
    assert.equal(JSON.stringify(last).includes(SUMMARY), false);
  },
  {
    server: { models: [{ id: 'scripted', max_model_len: WINDOW } as { id: string }] },
  },
);

modelTest(
  'the instructions that the model was given are named above the prompt, and the ring beside it shows its use',
  model,
  async workbench => {
    workbench.writeFile('AGENTS.md', 'Count in cents.\n');
    await workbench.openRedlineChat();
    const chat = workbench.chatFrame();
    await workbench.sendChat('What does it do?');
    await chat.locator('.item.assistant').first().waitFor();
    await chat.getByText('AGENTS.md').waitFor();
    await chat.locator('.ring').waitFor();
    await workbench.picture('instructions-and-ring');
  },
  {
    workbench: {
      settings: { 'workbench.colorTheme': 'Default Light Modern', 'redline.openai.contextWindow': WINDOW },
    },
  },
);
