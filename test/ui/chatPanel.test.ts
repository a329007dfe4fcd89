import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { readTexts } from '../../scripts/l10n/translations.mjs';
import type { CardState, ItemOf, PartRow, ViewItem } from '../../src/views/chat/protocol.ts';
import { ChatPage, deltaOf, openChromium, snapshotOf } from './support/chatPage.ts';

const HOSTILE =
  '<img src=x onerror="window.owned=1"><script>window.owned=2</script><a href="command:workbench.action.quit">x</a>';

function card(more: Partial<ItemOf<'preview'>> = {}): ItemOf<'preview'> {
  return {
    kind: 'preview',
    key: `p:${more.id ?? 'p1'}`,
    id: 'p1',
    revision: 1,
    label: 'Edit src/a.ts (1 edit)',
    face: 'change',
    files: [
      {
        path: 'src/a.ts',
        change: 'modify',
        stat: { added: 3, removed: 1, exact: true },
      },
    ],
    moreFiles: 0,
    state: pending(),
    canStop: false,
    ...more,
  };
}

/** Pastes the beginning of an image. */
const PASTE = `{
  const clipboardData = new DataTransfer();
  const bytes = new Uint8Array([137, 80, 78, 71]);
  clipboardData.items.add(new File([bytes], 'image.png', { type: 'image/png' }));
  const pasted = new ClipboardEvent('paste', { clipboardData, cancelable: true });
  document.querySelector('#prompt').dispatchEvent(pasted);
}`;

/** Rows of a turn: `a.ts` of `p1`, `b.ts` of `p2`. */
function rows(...states: ItemOf<'turn'>['state'][]): ItemOf<'turn'>['rows'] {
  return states.map((state, n) => ({
    id: `p${n + 1}`,
    path: `${'ab'[n]}.ts`,
    change: 'modify' as const,
    state,
    stat: { added: 2, removed: 1, exact: true },
  }));
}

function turn(more: Partial<ItemOf<'turn'>> = {}): ItemOf<'turn'> {
  const ids = ['p1', 'p2'];
  return {
    kind: 'turn',
    key: 't:p1',
    state: 'pending',
    rows: rows('pending', 'pending'),
    files: 2,
    stat: { added: 4, removed: 2, exact: true },
    more: 0,
    ids,
    open: ids,
    undo: [],
    counts: { applied: 0, discarded: 0, undone: 0, left: 2 },
    ...more,
  };
}

type Pending = Extract<CardState, { kind: 'pending' }>;

function pending(more: Partial<Pending> = {}): Pending {
  return { kind: 'pending', ...more };
}

function resolved(kind: 'applied' | 'discarded', reason?: string): CardState {
  return { kind, actor: 'human', reason };
}

const recommended = { state: pending(), advice: { action: 'apply', reason: 'Tests pass.' } } as const;

/** Hunks that were resolved by themselves. */
function parts(...rows: PartRow[]): NonNullable<ItemOf<'preview'>['parts']> {
  return { rows, counts: { applied: 1, discarded: 1, undone: 0, left: 1 } };
}

function answer(text: string, streaming = false): ItemOf<'assistant'> {
  return { kind: 'assistant', key: 'a', text, reasoning: '', streaming, canRetry: false };
}

function tool(more: Partial<ItemOf<'tool'>> = {}): ItemOf<'tool'> {
  return {
    kind: 'tool',
    key: 't',
    name: 'read_file',
    summary: 'a.ts',
    status: 'done',
    input: { text: '{}' },
    output: { text: 'x' },
    ...more,
  };
}

function prompt(key: string, text: string): ItemOf<'user'> {
  return { kind: 'user', key, text, attachments: [] };
}

/** How many pixels of a text are cut off. */
function cutBy(page: Page, selector: string): Promise<number> {
  return page.evaluate<number>(`(() => {
    const one = document.querySelector('${selector}');
    const text = document.createRange();
    text.selectNodeContents(one);
    return text.getBoundingClientRect().width - one.getBoundingClientRect().width;
  })()`);
}

describe('the chat panel', () => {
  let browser: Browser;
  let chat: ChatPage;
  before(async () => {
    browser = await openChromium();
  });
  after(() => browser.close());
  beforeEach(async () => {
    chat = await ChatPage.open(browser);
  });
  afterEach(async () => {
    const { complaints } = chat;
    await chat.close();
    assert.deepEqual(complaints, []);
  });

  test('whatever the texts hold, they are shown as text', async () => {
    const items: ViewItem[] = [
      { kind: 'notice', key: 'n', notice: { about: 'other', text: HOSTILE } },
      prompt('u', HOSTILE),
      answer(`${HOSTILE}\n\n- ${HOSTILE}\n\n\`\`\`html\n${HOSTILE}\n\`\`\`\n\n| ${HOSTILE} |\n|---|\n| x |`),
      tool({
        name: HOSTILE,
        summary: HOSTILE,
        progress: HOSTILE,
        input: { text: HOSTILE },
        output: { text: HOSTILE },
      }),
      card({
        label: HOSTILE,
        files: [{ path: `${HOSTILE}/${HOSTILE}`, from: HOSTILE, change: 'rename' }],
        agent: HOSTILE,
        state: pending({
          problem: { kind: 'stale', paths: [HOSTILE], more: 1 },
        }),
        advice: { action: 'apply', reason: HOSTILE },
      }),
      card({ id: 'p2', label: HOSTILE, state: resolved('discarded', HOSTILE) }),
      card({
        id: 'p3',
        label: HOSTILE,
        parts: parts({ id: 'p4', file: HOSTILE, state: resolved('applied', HOSTILE) }),
      }),
      turn({
        agent: HOSTILE,
        title: HOSTILE,
        rows: rows('failed').map(row => ({ ...row, path: HOSTILE, error: HOSTILE, reason: HOSTILE })),
        reason: HOSTILE,
        risks: [HOSTILE],
        advice: [{ action: 'apply', reason: HOSTILE }],
      }),
      { kind: 'tools', key: 'g', calls: [tool({ key: 'g.0', name: HOSTILE, summary: HOSTILE })] },
      {
        kind: 'resolve',
        key: 'r',
        outcome: 'failed',
        label: HOSTILE,
        source: HOSTILE,
        actor: 'model',
        reason: HOSTILE,
        detail: { kind: 'notDone', action: 'apply', message: HOSTILE },
      },
      { kind: 'error', key: 'e', text: HOSTILE, actions: ['showLog'] },
    ];
    await chat.snapshot(items, {
      model: HOSTILE,
      state: 'running',
    });
    const { page } = chat;
    await page.locator('[data-kind="error"]').waitFor();
    assert.equal(await page.locator('body :is(img, script, iframe, object, a[href^="command"])').count(), 0);
    assert.equal(await page.evaluate("'owned' in window"), false);
    for (const kind of items.map(item => item.kind)) {
      assert.match((await page.locator(`[data-kind="${kind}"]`).first().textContent()) ?? '', /<script>/);
    }
  });

  test('the page speaks the language whose texts it is given, with its plural forms', async () => {
    const { bundle } = readTexts().translations['zh-cn'] ?? {};
    assert.ok(bundle);
    await chat.post({ type: 'language', texts: bundle });
    await chat.snapshot([card(), card({ id: 'p2', state: resolved('applied') }), turn()]);
    const { page } = chat;
    await page.getByRole('button', { name: `应用“${card().label}”` }).waitFor();
    await page.getByText('由你应用').waitFor();
    await page.getByText('2 个文件', { exact: true }).waitFor();
  });

  test('markdown links lead to the web through the host, and nowhere else', async () => {
    await chat.snapshot([
      answer(
        '[web](https://example.com/a) [script](javascript:alert(1)) [command](command:workbench.action.quit) ' +
          '[file](file:///etc/passwd) [near](src/a.ts) ![picture](https://example.com/x.png) [data](data:text/html,x)',
      ),
    ]);
    const { page } = chat;
    const links = page.locator('.markdown a');
    assert.deepEqual(await links.allTextContents(), ['web', 'picture']);
    await links.first().click();
    assert.deepEqual(await chat.said(), [{ type: 'openLink', url: 'https://example.com/a' }]);
    assert.equal(new URL(page.url()).pathname, '/');
  });

  test('markdown becomes elements', async () => {
    await chat.snapshot([
      answer(
        '# Title\n\nSome **bold** `code`\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```ts\nlet x;\n```',
      ),
    ]);
    const root = chat.page.locator('.markdown');
    assert.equal(await root.getByRole('heading', { name: 'Title' }).count(), 1);
    assert.deepEqual(await root.locator('strong, p code').allTextContents(), ['bold', 'code']);
    assert.deepEqual(await root.locator('ol > li').allTextContents(), ['one', 'two']);
    assert.deepEqual(await root.locator('td').allTextContents(), ['1', '2']);
    assert.equal(await root.locator('pre').textContent(), 'let x;');
  });

  test('a click votes on the revision that is shown', async () => {
    const { page } = chat;
    await chat.snapshot([card()]);
    const action = (name: string) => page.locator(`[data-preview-id="p1"] [data-action="${name}"]`);
    await action('apply').click();
    await chat.delta([card({ revision: 2 })]);
    await action('apply').click();
    await action('discard').click();
    await page.locator('[data-preview-id="p1"] .card-label').click();
    assert.deepEqual(await chat.said(), [
      { type: 'resolve', id: 'p1', revision: 1, action: 'apply' },
      { type: 'resolve', id: 'p1', revision: 2, action: 'apply' },
      { type: 'resolve', id: 'p1', revision: 2, action: 'discard' },
      { type: 'open', id: 'p1' },
    ]);
  });

  test('what should change in a plan is typed in place, survives an update and goes with the discard', async () => {
    const { page } = chat;
    const plan = card({ face: 'approve', files: [], plan: { text: '# Plan', isUnfolded: false } });
    await chat.snapshot([plan]);
    await page.locator('[data-action="discard"]').click();
    await page.keyboard.type('Too risky');
    await chat.delta([{ ...plan, ...recommended }]);
    await page.keyboard.type(' now');
    await page.keyboard.press('Enter');
    assert.deepEqual(await chat.said(), [
      { type: 'resolve', id: 'p1', revision: 1, action: 'discard', reason: 'Too risky now' },
    ]);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.reason-input').isVisible(), false);
    assert.equal(await page.locator('[data-action="discard"]:focus').isVisible(), true);
  });

  test('the card of a turn opens its files, all of it and the list of more, and stays with Undo', async () => {
    const { page } = chat;
    const check = {
      name: 'test',
      state: 'failed',
      isCurrent: true,
      seconds: 1,
      problems: 2,
      isFlaky: false,
    } as const;
    await chat.snapshot([turn({ checks: [check] })]);
    const one = page.locator('[data-kind="turn"]');
    assert.match((await one.locator('.card-header').textContent()) ?? '', /2 files\s+\+4 −2\s+✘ test/);
    assert.doesNotMatch((await one.textContent()) ?? '', /p1|edit_file/);
    await one.getByRole('button', { name: /b\.ts/ }).click();
    await one.getByRole('button', { name: 'Review 2 files' }).click();
    await one.getByRole('button', { name: 'More for 2 files' }).click();
    const done = { open: [], undo: ['p1'], rows: rows('applied', 'discarded') };
    await chat.delta([
      turn({ ...done, state: 'mixed', counts: { applied: 1, discarded: 1, undone: 0, left: 0 } }),
    ]);
    await one.getByText('1 of 2 hunks applied').waitFor();
    assert.equal(await one.locator('.codicon-discard').count(), 0);
    await one.getByRole('button', { name: 'Undo 2 files, applied in part' }).click();
    assert.deepEqual(await chat.said(), [
      { type: 'open', id: 'p2', path: 'b.ts' },
      { type: 'openTurn', ids: ['p1', 'p2'] },
      { type: 'more', ids: ['p1', 'p2'] },
      { type: 'undoTurn', ids: ['p1'] },
    ]);
  });

  test('nothing asks to be clicked while a check is red or there is something to know before', async () => {
    const { page } = chat;
    const check = { name: 'test', isCurrent: true, seconds: 1, problems: 0, isFlaky: false } as const;
    const primary = (): Promise<number> => page.locator('.button.primary').count();
    await chat.snapshot([card({ checks: [{ ...check, state: 'passed' }] })]);
    assert.equal(await primary(), 1);
    await chat.delta([card({ checks: [{ ...check, state: 'failed' }] })]);
    assert.equal(await primary(), 0);
    await chat.delta([card({ risks: ['It deletes a file.'] })]);
    assert.equal(await primary(), 0);
  });

  test('parts are rows of their card, each with the button that takes it back', async () => {
    const split = parts(
      {
        id: 'p2',
        file: 'a.ts',
        hunk: 1,
        state: resolved('applied'),
        remedy: { type: 'undo', id: 'p2' },
      },
      {
        id: 'p3',
        file: 'a.ts',
        hunk: 3,
        state: resolved('discarded', 'Too risky'),
        remedy: { type: 'reopen', id: 'p3' },
      },
    );
    await chat.snapshot([card({ parts: split })]);
    const { page } = chat;
    await page.getByText('1 applied · 1 discarded · 1 left').waitFor();
    await page.getByText('Discarded by you: Too risky').waitFor();
    await page.getByRole('button', { name: 'Undo a.ts, hunk 1, Edit src/a.ts (1 edit)' }).click();
    await page.getByRole('button', { name: 'Reopen a.ts, hunk 3, Edit src/a.ts (1 edit)' }).click();
    assert.deepEqual(await chat.said(), [
      { type: 'undo', id: 'p2' },
      { type: 'reopen', id: 'p3' },
    ]);
  });

  test('files that an answer names open at their line; code is coloured and can be copied', async () => {
    const code = '```ts src/sum.ts\nconst total = "x"; // sum\n```';
    await chat.snapshot([
      { ...answer(`See \`src/a.ts\`, b.ts:12 and \`console.log\`.\n\n${code}`), canRetry: true },
      tool({ file: { path: 'src/c.ts', line: 3 } }),
    ]);
    const { page } = chat;
    await page.getByRole('button', { name: 'src/a.ts', exact: true }).click();
    await page.getByRole('button', { name: 'b.ts:12', exact: true }).click();
    assert.equal(await page.getByRole('button', { name: 'console.log' }).count(), 0);
    await page.locator('.tool summary').click();
    await page.getByRole('button', { name: 'Open src/c.ts:3' }).click();
    await page.locator('.assistant').hover();
    await page.getByRole('button', { name: 'Ask Again' }).click();
    assert.deepEqual(await chat.said(), [
      { type: 'openFile', path: 'src/a.ts' },
      { type: 'openFile', path: 'b.ts', line: 12 },
      { type: 'openFile', path: 'src/c.ts', line: 3 },
      { type: 'retry', session: 's1' },
    ]);
    await page.locator('.code').hover();
    await page.getByRole('button', { name: 'Propose as Edit of src/sum.ts' }).click();
    assert.deepEqual(await chat.said(), [
      { type: 'propose', session: 's1', path: 'src/sum.ts', code: 'const total = "x"; // sum' },
    ]);
    assert.equal(await page.locator('.hljs-keyword').textContent(), 'const');
    assert.equal(await page.locator('.hljs-comment').textContent(), '// sum');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the Answer' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    assert.match(await page.evaluate('navigator.clipboard.readText()'), /^See `src\/a\.ts`/);
  });

  test('code that streams is coloured when it is complete', async () => {
    const text = '```ts\nconst a = 1;\n```\n\nDone.';
    await chat.snapshot([answer(text, true)]);
    const { page } = chat;
    await page.getByText('const a = 1;').waitFor();
    assert.equal(await page.locator('.hljs-keyword').count(), 0);
    await chat.delta([answer(text)]);
    await page.locator('.hljs-keyword').waitFor();
  });

  test('Escape stops the model, Ctrl+Enter without a prompt applies what is shown, Up recalls prompts', async () => {
    const { page } = chat;
    await chat.snapshot([prompt('u1', 'First'), prompt('u2', 'Second')], { state: 'running' });
    const input = page.locator('#prompt');
    await input.focus();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Enter');
    for (const [key, text] of [
      ['ArrowUp', 'Second'],
      ['ArrowUp', 'First'],
      ['ArrowDown', 'Second'],
      ['ArrowDown', ''],
    ] as const) {
      await page.keyboard.press(key);
      assert.equal(await input.inputValue(), text);
    }
    await page.keyboard.type('/');
    await page.locator('[role="option"]').first().waitFor();
    await page.keyboard.press('Escape');
    await chat.delta([], { status: { state: 'idle' } });
    await page.keyboard.press('Escape');
    assert.deepEqual(await chat.said(), [{ type: 'stop' }, { type: 'applyShown' }]);
  });

  test('calls in a row unfold, and each of them; what a resolve says more is in its fold', async () => {
    const resolve: ItemOf<'resolve'> = {
      kind: 'resolve',
      key: 'r',
      outcome: 'accept',
      label: 'Edit a.ts',
      source: 'edit_file',
      actor: 'model',
      reason: 'Tests pass.',
    };
    const group = (...calls: ItemOf<'tool'>[]): ViewItem => ({
      kind: 'tools',
      key: 'g',
      calls,
    });
    const [one, two, three] = [1, 2, 3].map(n =>
      tool({
        key: `t${n}`,
        summary: `${n}.ts`,
        file: { path: `${n}.ts` },
        output: { text: `text ${n}` },
      }),
    );
    assert.ok(one && two && three);
    await chat.snapshot([group(one, two), resolve]);
    const { page } = chat;
    await page.getByText('Read 2 files').click();
    await page.getByText('Read 1.ts').click();
    await page.getByText('text 1').waitFor();
    await chat.delta([group(one, two, three)]);
    await page.getByText('Read 3 files').waitFor();
    await page.getByText('text 1').waitFor();
    await page.getByText('Tests pass.').waitFor({ state: 'hidden' });
    await page.getByText('Accept: Edit a.ts').click();
    await page.getByText('Tests pass.').waitFor();
  });

  test('a resolved card has no buttons, and the keyboard goes on to the next one', async () => {
    const { page } = chat;
    await chat.snapshot([card(), card({ id: 'p2', label: 'Edit b.ts' })]);
    await page.locator('[data-preview-id="p1"] [data-action="apply"]').focus();
    await chat.delta([card({ state: resolved('applied') })]);
    assert.equal(await page.locator('[data-preview-id="p1"] [data-action]').count(), 0);
    assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Apply Edit b.ts');
    await chat.delta([card({ id: 'p2', state: resolved('applied') })]);
    assert.equal(await page.locator(':focus').getAttribute('data-preview-id'), 'p2');
  });

  test('a held key votes once, wherever the focus goes meanwhile', async () => {
    const { page } = chat;
    const cards = [card(), card({ id: 'p2', plan: { text: 'Steps', isUnfolded: false } })];
    const vote = { type: 'resolve', id: 'p1', revision: 1, action: 'apply' };
    for (const [key, votes] of [
      ['Space', []],
      ['Enter', [vote]],
    ] as const) {
      await chat.snapshot(cards);
      await page.locator('[data-preview-id="p1"] [data-action="apply"]').focus();
      await page.keyboard.down(key);
      await chat.delta([card({ state: resolved('applied') })]);
      await page.keyboard.down(key);
      await page.keyboard.up(key);
      assert.deepEqual(await chat.said(), votes);
    }
    await page.getByRole('button', { name: 'Send back Edit src/a.ts (1 edit)' }).focus();
    await page.keyboard.down('Enter');
    await page.locator('.reason-input:focus').waitFor();
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.locator('#prompt').fill('one');
    await page.keyboard.down('Control');
    for (let n = 0; n < 3; n++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.keyboard.up('Control');
    await page.keyboard.down('Shift');
    for (let n = 0; n < 3; n++) await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.keyboard.up('Shift');
    assert.equal(await page.locator('#prompt').inputValue(), '\n\n\n');
    assert.deepEqual(await chat.said(), [{ type: 'prompt', text: 'one' }]);
  });

  test('in a card that is drawn anew, the focus stays on the same file, and on the button of the same part', async () => {
    const { page } = chat;
    const focused = (): Promise<string | null> => page.locator(':focus').getAttribute('title');
    const files = ['a.ts', 'b.ts', 'c.ts'].flatMap(path => card().files.map(file => ({ ...file, path })));
    await chat.snapshot([card({ files })]);
    await page.locator('.file').nth(1).focus();
    const title = await focused();
    await chat.delta([card({ files, ...recommended })]);
    assert.equal(await focused(), title);

    const part = (id: string, remedy: 'undo' | 'redo') => ({
      id,
      file: 'a.ts',
      state: resolved('applied'),
      remedy: { type: remedy, id },
    });
    await chat.delta([card({ parts: parts(part('p2', 'undo'), part('p3', 'undo')) })]);
    await page.locator('[data-of="p3"]').focus();
    await chat.delta([card({ parts: parts(part('p2', 'undo'), part('p3', 'redo')) })]);
    assert.equal(await page.locator(':focus').getAttribute('data-of'), 'p3');
    assert.equal(await page.locator(':focus').getAttribute('data-action'), 'redo');
  });

  test('every control has a name, and those of a card name its preview', async () => {
    const { page } = chat;
    await chat.snapshot([prompt('u', 'Hi'), answer('```\nx\n```'), tool(), card(), turn()]);
    const label = card().label;
    for (const name of ['Apply', 'Discard', 'Open']) {
      assert.equal(
        await page
          .getByRole('button', { name: `${name} ${label}`, exact: true })
          .first()
          .isVisible(),
        true,
      );
    }
    const controls = page.locator('button:visible, select:visible, textarea:visible, summary:visible');
    const unnamed = await controls.evaluateAll(all =>
      all
        .filter(el => !el.getAttribute('aria-label') && (el.textContent ?? '').trim() === '')
        .map(el => el.outerHTML),
    );
    assert.deepEqual(unnamed, []);
    assert.equal(await page.getByRole('log').getAttribute('aria-live'), 'polite');
  });

  test('Enter sends, Shift+Enter begins a line, and nothing is sent twice or empty', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    const input = page.locator('#prompt');
    assert.equal(await page.locator('#send').isDisabled(), true);
    await input.focus();
    await page.keyboard.press('Enter');
    await page.keyboard.type('one');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('two');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    assert.deepEqual(await chat.said(), [{ type: 'prompt', text: 'one\ntwo' }]);
    assert.equal(await input.inputValue(), '');
  });

  test('a prompt that is too long to be sent stays in the input', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    const input = page.locator('#prompt');
    await input.fill('x'.repeat(1_000_001));
    await page.keyboard.press('Enter');
    assert.deepEqual(await chat.said(), [{ type: 'promptTooLong' }]);
    assert.equal((await input.inputValue()).length, 1_000_001);
  });

  test('attachments of prompts that are put back all stay, and no more of them are sent than a prompt takes', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    const refs = (name: string, count: number) =>
      Array.from({ length: count }, (_, n) => ({ path: `${name}${n}.ts` }));
    await chat.post({ type: 'attached', refs: refs('typed', 2) });
    await chat.post({ type: 'putBack', text: 'First\n\nSecond', refs: refs('back', 19) });
    await chat.post({ type: 'attached', refs: refs('more', 1) });
    const chips = page.locator('.composer .chip');
    assert.equal(await chips.count(), 21);
    const input = page.locator('#prompt');
    await input.press('Enter');
    assert.deepEqual(await chat.said(), [{ type: 'tooManyAttached' }]);
    assert.deepEqual([await input.inputValue(), await chips.count()], ['First\n\nSecond', 21]);
    await page.getByRole('button', { name: 'Remove typed0.ts' }).click();
    await input.press('Enter');
    const [sent] = await chat.said();
    assert.ok(sent?.type === 'prompt');
    assert.equal(sent.attachments?.length, 20);
    assert.equal(await chips.count(), 0);
  });

  test('a prompt that waits has buttons to edit it and to remove it', async () => {
    await chat.snapshot([prompt('u', 'First'), { ...prompt('q2', 'Second'), queued: 'q2' }]);
    const { page } = chat;
    const waiting = page.locator('[data-kind="user"]').last();
    await waiting.getByRole('button', { name: 'Edit the Queued Prompt' }).click();
    await waiting.getByRole('button', { name: 'Remove the Queued Prompt' }).click();
    assert.deepEqual(await chat.said(), [
      { type: 'takeBack', id: 'q2', edit: true },
      { type: 'takeBack', id: 'q2', edit: false },
    ]);
    assert.equal(await page.locator('.queued-buttons').count(), 1);
  });

  test('while it runs, the button stops; a prompt can still be typed and sent', async () => {
    const { page } = chat;
    await chat.snapshot([prompt('u', 'Hi')], { state: 'running' });
    const send = page.locator('#send');
    assert.equal(await send.getAttribute('aria-label'), 'Stop');
    await send.click();
    await page.locator('#prompt').fill('And then?');
    await page.keyboard.press('Enter');
    await chat.delta([], { status: { state: 'idle' } });
    assert.equal(await send.getAttribute('aria-label'), 'Send');
    assert.deepEqual(await chat.said(), [{ type: 'stop' }, { type: 'prompt', text: 'And then?' }]);
  });

  test('a draft and what is attached survive a new snapshot', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    await page.locator('#prompt').fill('look at');
    await chat.post({ type: 'attached', refs: [{ path: 'src/a.ts', startLine: 3, endLine: 8 }] });
    await chat.snapshot([prompt('u', 'Hi')]);
    assert.equal(await page.locator('#prompt').inputValue(), 'look at');
    assert.deepEqual(await page.locator('.composer .chip').allTextContents(), ['a.ts:3-8']);
    await page.locator('#mode').focus();
    await chat.post({ type: 'focus' });
    assert.equal(await page.locator('#prompt:focus').isVisible(), true);
  });

  test('attached places go with one prompt, once, and not with a command', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    const a = { path: 'src/a.ts' };
    const b = { path: 'b.ts', startLine: 2, endLine: 2 };
    await chat.post({ type: 'attached', refs: [a, b, a] });
    await chat.post({ type: 'attached', refs: [a, { path: 'c.ts' }] });
    const chips = page.locator('.composer .chip');
    assert.deepEqual(await chips.allTextContents(), ['a.ts', 'b.ts:2', 'c.ts']);
    await page.getByRole('button', { name: 'Remove c.ts' }).click();
    assert.equal(await page.locator(':focus').getAttribute('aria-label'), 'Remove b.ts:2');
    await page.locator('#prompt').fill('/apply p1');
    await page.locator('#prompt').press('Enter');
    await page.locator('#prompt').fill('Explain it');
    await page.locator('#prompt').press('Enter');
    assert.deepEqual(await chat.said(), [
      { type: 'prompt', text: '/apply p1' },
      { type: 'prompt', text: 'Explain it', attachments: [a, b] },
    ]);
    assert.equal(await chips.count(), 0);
  });

  test('typing a slash lists the commands; arrows choose, Enter completes and then sends', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    const list = page.getByRole('listbox');
    const selected = page.locator('[role="option"][aria-selected="true"] .suggestion-label');
    await page.locator('#prompt').focus();
    await page.keyboard.type('/');
    assert.equal(await list.isVisible(), true);
    assert.ok((await page.getByRole('option').count()) >= 8);
    await page.keyboard.type('ap');
    assert.equal(await selected.textContent(), '/apply [id]');
    const active = await page.locator('#prompt').getAttribute('aria-activedescendant');
    assert.equal(await page.locator(`#${active}`).getAttribute('aria-selected'), 'true');
    await page.keyboard.press('Tab');
    assert.equal(await page.locator('#prompt').inputValue(), '/apply ');
    assert.equal(await list.isVisible(), false);
    await page.locator('#prompt').fill('');
    await page.keyboard.type('/disc');
    await page.keyboard.press('ArrowDown');
    assert.equal(await selected.textContent(), '/discard-all');
    await page.keyboard.press('ArrowDown');
    assert.equal(await selected.textContent(), '/discard [id] [reason]');
    await page.keyboard.press('Escape');
    assert.equal(await list.isVisible(), false);
    await page.keyboard.type('ard');
    await page.keyboard.press('Enter');
    assert.deepEqual(await chat.said(), [{ type: 'prompt', text: '/discard' }]);
  });

  test('files that the host finds after the prompt was sent are no longer listed', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    await page.locator('#prompt').focus();
    await page.keyboard.type('see @ca');
    const asked = (await chat.said()).at(-1);
    assert.ok(asked?.type === 'findFiles');
    await page.keyboard.press('Enter');
    await chat.post({ type: 'files', request: asked.request, paths: ['src/cart.ts'] });
    assert.equal(await page.getByRole('listbox').isVisible(), false);
  });

  test('an @ lists files of the host; the one chosen is named in the words and attached', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    await page.locator('#prompt').focus();
    await page.keyboard.type('see @ca');
    const asked = (await chat.said()).at(-1);
    assert.ok(asked?.type === 'findFiles');
    assert.equal(asked.query, 'ca');
    await chat.post({ type: 'files', request: asked.request - 1, paths: ['old.ts'] });
    assert.equal(await page.getByRole('listbox').isVisible(), false);
    await chat.post({ type: 'files', request: asked.request, paths: ['src/cart.ts', 'my cat.md'] });
    await page.getByRole('option', { name: 'my cat.md' }).click();
    assert.equal(await page.locator('#prompt').inputValue(), 'see @my cat.md ');
    await page.keyboard.press('Enter');
    assert.deepEqual(await chat.said(), [
      { type: 'prompt', text: 'see @my cat.md', attachments: [{ path: 'my cat.md' }] },
    ]);
  });

  test('Plan is a toggle beside the mode; tokens are told on demand', async () => {
    const { page } = chat;
    const counted = { inputTokens: 1_000, outputTokens: 200 };
    const usage = { session: counted, last: counted };
    await chat.snapshot([], { usage });
    const plan = page.getByRole('button', { name: 'Plan' });
    await plan.click();
    await chat.delta([], { status: { planMode: true, mode: 'apply' } });
    assert.equal(await plan.getAttribute('aria-pressed'), 'true');
    assert.equal(await page.locator('#mode').inputValue(), 'apply');
    await plan.click();
    assert.deepEqual(await chat.said(), [
      { type: 'setPlanMode', session: 's1', on: true },
      { type: 'setPlanMode', session: 's1', on: false },
    ]);
    await chat.snapshot([], { usage });
    await page.getByRole('button', { name: 'Token use: 1.2K tokens' }).click();
    assert.equal(
      await page.locator('.usage-detail').textContent(),
      'Tokens in this session: 1,000 in, 200 out. Last request: 1,000 in, 200 out.',
    );
    assert.equal(await page.locator('.usage-detail').isVisible(), true);
  });

  test('a pasted image goes to the host; it is shown, named, removed, and sent with a prompt', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    await page.evaluate(PASTE);
    await page.waitForFunction(() => globalThis.sent.some(({ type }) => type === 'pasteImage'));
    assert.deepEqual(await chat.said(), [
      { type: 'pasteImage', name: 'Pasted image', data: 'iVBORw==', bytes: 4 },
    ]);
    const src = 'https://panel.test/favicon.ico';
    const image = { file: `drafts.images/${'0'.repeat(64)}.png`, type: 'image/png', bytes: 4, src } as const;
    const ref = { path: 'Pasted image', image };
    await chat.post({ type: 'attached', refs: [ref], isPasted: true });
    const thumbnail = page.getByRole('img', { name: 'Image: Pasted image' });
    await thumbnail.waitFor();
    await page.getByRole('button', { name: 'Remove Pasted image' }).click();
    assert.equal(await thumbnail.count(), 0);
    await chat.post({ type: 'attached', refs: [ref] });
    await page.locator('#prompt').fill('What is this?');
    await page.keyboard.press('Enter');
    assert.deepEqual(await chat.said(), [{ type: 'prompt', text: 'What is this?', attachments: [ref] }]);
    const shown = { ...prompt('u', 'What is this?') };
    await chat.delta([{ ...shown, attachments: [{ path: 'Pasted image', src }] }], { order: ['u'] });
    await page.locator('.user').getByRole('img', { name: 'Image: Pasted image' }).waitFor();
  });

  test('a prompt that waits for a pasted image is sent with it, whatever else is attached, or not, meanwhile', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    const file = `drafts.images/${'0'.repeat(64)}.png`;
    const image = { file, type: 'image/png', bytes: 4, src: 'https://panel.test/favicon.ico' } as const;
    const pasted = { path: 'Pasted image', image };
    for (const refs of [[{ path: 'a.ts' }], []]) {
      await page.evaluate(PASTE);
      await page.locator('#prompt').fill('What is this?');
      await page.keyboard.press('Enter');
      await page.waitForFunction(() => globalThis.sent.some(({ type }) => type === 'pasteImage'));
      await chat.post({ type: 'attached', refs });
      assert.deepEqual(
        (await chat.said()).map(({ type }) => type),
        ['pasteImage'],
      );
      await chat.post({ type: 'attached', refs: [pasted], isPasted: true });
      assert.deepEqual(await chat.said(), [
        { type: 'prompt', text: 'What is this?', attachments: [...refs, pasted] },
      ]);
    }
  });

  test('a sent prompt shows what went along, and what came of a command is told below it', async () => {
    const { page } = chat;
    const attachments = [{ path: 'src/a.ts', startLine: 3, endLine: 8, problem: 'It is gone.' }];
    await chat.snapshot([
      { ...prompt('u', 'Hi'), attachments },
      prompt('c', '/apply'),
      { kind: 'local', key: 'c.l', text: 'Applied **p1**.' },
      { kind: 'connect', key: 'x' },
    ]);
    assert.equal(await page.locator('.user .chip-label').textContent(), 'a.ts:3-8');
    assert.equal(await page.locator('.local strong').textContent(), 'p1');
    await page.locator('.item.actions').getByRole('button').click();
    assert.deepEqual(await chat.said(), [{ type: 'action', name: 'selectModel' }]);
  });

  test('what a call is about is cut before its name, and its outcome is one line', async () => {
    const url = `https://docs.example.com/${'a-long-page/'.repeat(20)}`;
    await chat.snapshot([tool({ name: 'fetch_url', status: 'failed', summary: url })]);
    const { page } = chat;
    const row = await page.locator('.tool > summary').boundingBox();
    for (const part of ['.tool-name', '.tool-status']) {
      const cut = await cutBy(page, part);
      assert.ok(cut <= 0, `${part} lacks ${cut} pixels`);
    }
    assert.ok(row && row.height < 30, `the row is ${row?.height} pixels high`);
  });

  test('the outcome of a file leaves room for its name in a narrow panel', async () => {
    const [first] = rows('applied');
    const counts = { applied: 12, discarded: 13, undone: 0, left: 0 };
    const row = { ...(first ?? assert.fail()), path: 'src/area0/file10.ts', state: 'mixed', counts } as const;
    await chat.snapshot([turn({ rows: [row] })]);
    const { page } = chat;
    await page.setViewportSize({ width: 250, height: 600 });
    await page.locator('.turn-row').getByText('12 of 25 applied').waitFor();
    const cut = await cutBy(page, '.file-name');
    assert.ok(cut <= 0, `the name lacks ${cut} pixels`);
  });

  test('the empty state offers to connect an agent, with a model, too', async () => {
    for (const offline of [true, false]) {
      await chat.snapshot([], { offline });
      await chat.page.getByRole('button', { name: 'Connect an Agent…' }).click();
      assert.deepEqual(await chat.said(), [{ type: 'action', name: 'agents.connect' }]);
    }
  });

  test('the empty state offers examples, which go to the composer', async () => {
    const { page } = chat;
    await chat.snapshot([]);
    await page.getByRole('button', { name: '/help' }).click();
    assert.equal(await page.locator('#prompt').inputValue(), '/help');
    await chat.delta([prompt('u', '/help')], { order: ['u'] });
    assert.equal(await page.locator('.empty').isVisible(), false);
  });

  test('mode and model are shown, and the switch tells the host', async () => {
    const { page } = chat;
    await chat.snapshot([], {
      mode: 'none',
      model: 'gpt (x)',
    });
    assert.equal(await page.locator('#mode').inputValue(), 'none');
    await page.locator('#mode').selectOption('apply');
    assert.deepEqual(await chat.said(), [{ type: 'setMode', mode: 'apply' }]);
    await chat.delta([], { status: { mode: 'none' } });
    assert.equal(await page.locator('#mode').inputValue(), 'none');
  });

  test('the to-do list is one line that opens to its steps, is told to screen readers, and goes', async () => {
    const { page } = chat;
    const step = (text: string, state: 'open' | 'doing' | 'done') => ({ text, state });
    await chat.snapshot([], {
      todo: [step('Find it', 'done'), step('Mend <b>it</b>', 'doing'), step('Test', 'open')],
    });
    const line = 'To-do: 1 of 3 done · Mend <b>it</b>';
    assert.equal(await page.locator('.todo-summary').textContent(), line);
    assert.equal(await page.locator('.todo [role="status"]').textContent(), line);
    assert.equal(await page.locator('.todo-items').isVisible(), false);
    await page.locator('.todo summary').press('Enter');
    assert.equal(await page.getByRole('list', { name: 'To-do list' }).isVisible(), true);
    assert.deepEqual(await page.locator('.todo-items li').allTextContents(), [
      'Find it (done)',
      'Mend <b>it</b> (in progress)',
      'Test (to do)',
    ]);
    await chat.delta([], { status: { todo: [step('Find it', 'done')] } });
    assert.equal(await page.locator('.todo-items').isVisible(), true, 'it stays open');
    assert.equal(await page.locator('.todo [role="status"]').textContent(), 'To-do: 1 of 1 done');
    await chat.delta([], { status: {} });
    assert.equal(await page.locator('.todo').isVisible(), false);
  });

  test('a preview that is added at the end is scrolled to', async () => {
    const { page } = chat;
    const items = Array.from({ length: 40 }, (_, i) => prompt(`u${i}`, `Prompt ${i}`));
    await chat.snapshot(items);
    await page.locator('.scroller').evaluate(one => one.scrollTo({ top: 0 }));
    await page.locator('.to-end').waitFor();
    const order = [...items.map(({ key }) => key), 'p:p1'];
    await chat.delta([card()], { order });
    await page.locator('.to-end').waitFor({ state: 'hidden' });
    const edge = (selector: string): Promise<number> =>
      page.locator(selector).evaluate(one => one.getBoundingClientRect().bottom);
    const [bottom, end] = [await edge('.card .votes'), await edge('.scroller')];
    assert.ok(bottom <= end, `${bottom} is below ${end}`);
  });

  test('in a low panel the conversation keeps its room, and the prompt stays in sight', async () => {
    const { page } = chat;
    const counted = { inputTokens: 1_000, outputTokens: 200 };
    for (const [width, height] of [
      [285, 300],
      [285, 200],
      [285, 150],
      [162, 164],
    ] as const) {
      await page.setViewportSize({ width, height });
      await chat.snapshot([prompt('u', 'Hi'), card()], {
        state: 'awaitingReview',
        usage: { session: counted, last: counted },
      });
      const [list, input] = await Promise.all(
        ['.scroller', '#prompt'].map(selector => page.locator(selector).boundingBox()),
      );
      assert.ok(list && list.height >= height / 3, `${list?.height} of ${height}`);
      assert.ok(input && input.y + input.height <= height, `the prompt of ${height} is cut off`);
    }
  });

  test('at any zoom, no button of the prompt is cut off', async () => {
    const { page } = chat;
    const cut: string[] = [];
    for (const width of [162, 200, 285, 400])
      for (const height of [150, 200, 240, 300, 330, 400]) {
        await page.setViewportSize({ width, height });
        await chat.snapshot([prompt('u', 'Hi'), card()], {
          model: 'a-model-with-a-long-name',
          state: 'awaitingReview' as const,
        });
        for (const one of await page.locator('.footer button, .footer select').all()) {
          const box = (await one.isVisible()) ? await one.boundingBox() : null;
          const isCut =
            box !== null &&
            (box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height);
          if (isCut)
            cut.push(`${width}×${height}: ${(await one.textContent())?.trim()} ${JSON.stringify(box)}`);
        }
      }
    assert.deepEqual(cut, []);
  });

  test('a long conversation is there from its end on at once, and whole and in order soon after', async () => {
    const { page } = chat;
    const prompts = Array.from({ length: 500 }, (_, n) => prompt(`u${n}`, `Prompt ${n}`));
    // Counts them right after the panel has got the snapshot.
    await page.evaluate(
      `addEventListener('message', () => {
        document.body.dataset.rendered = document.querySelectorAll('.log > *').length;
      }, { once: true });`,
    );
    await chat.snapshot(prompts);
    const rendered = Number(await page.locator('body').getAttribute('data-rendered'));
    assert.ok(rendered > 0 && rendered < 100, `${rendered} were rendered at once`);
    await page.locator('.log[aria-live="polite"]').waitFor();
    const texts = await page.locator('.log .bubble').allTextContents();
    assert.deepEqual(
      texts,
      prompts.map((_, n) => `You: Prompt ${n}`),
    );
    const end = await page.locator('.log > *').last().boundingBox();
    const list = await page.locator('.scroller').boundingBox();
    assert.ok(end && list && end.y + end.height <= list.y + list.height, 'the end is out of sight');
  });

  test('a change at the end of a long conversation does not wait for its beginning', async () => {
    const { page } = chat;
    const items = [...Array.from({ length: 500 }, (_, n) => prompt(`u${n}`, `Prompt ${n}`)), answer('One')];
    // Counts them right after the panel has got the change.
    await page.evaluate(
      `addEventListener('message', ({ data }) => {
        if (data.type === 'delta') document.body.dataset.rendered ??= document.querySelectorAll('.log > *').length;
      });`,
    );
    await chat.post(snapshotOf(items), deltaOf([answer('Two')], { status: { model: 'Changed' } }));
    const rendered = Number(await page.locator('body').getAttribute('data-rendered'));
    assert.ok(rendered > 0 && rendered < 300, `${rendered} were rendered at once`);
    await page.locator('.log[aria-live="polite"]').waitFor();
    assert.equal(await page.locator('.log > *').count(), items.length);
    assert.equal(await page.locator('.log > *').last().locator('.markdown').textContent(), 'Two');
  });

  test('what happens while a long conversation is still being rendered keeps its place', async () => {
    const { page } = chat;
    const prompts = Array.from({ length: 500 }, (_, n) => prompt(`u${n}`, `Prompt ${n}`));
    const keys = prompts.map(({ key }) => key);
    await chat.post(snapshotOf(prompts), deltaOf([prompt('new', 'New')], { order: [...keys, 'new'] }));
    const texts = await page.locator('.log .bubble').allTextContents();
    assert.deepEqual(texts, [...prompts.map((_, n) => `You: Prompt ${n}`), 'You: New']);
  });

  test('streaming leaves what stands above alone', async () => {
    const { page } = chat;
    await chat.snapshot([answer('First paragraph.\n\nSecond', true)], { state: 'running' });
    const first = await page.locator('.markdown p').first().elementHandle();
    await chat.post({
      type: 'delta',
      items: [],
      texts: [{ key: 'a', append: ' grows.\n\nThird.', reasoning: '' }],
    });
    assert.deepEqual(await page.locator('.markdown p').allTextContents(), [
      'First paragraph.',
      'Second grows.',
      'Third.',
    ]);
    assert.equal(await first?.evaluate(el => el.isConnected), true);
  });

  test('reasoning is folded above its answer, grows in place, and stays unfolded once opened', async () => {
    const { page } = chat;
    const thinking = { ...answer('', true), reasoning: 'Add <b>them' };
    await chat.snapshot([thinking], { state: 'running' });
    const fold = page.locator('.reasoning');
    assert.equal(await fold.locator('summary').textContent(), 'Reasoning…');
    assert.equal(await fold.locator('.reasoning-body').isVisible(), false);
    await fold.locator('summary').click();
    await chat.post({ type: 'delta', items: [], texts: [{ key: 'a', append: 'Sum.', reasoning: '</b>.' }] });
    await fold.getByText('Add <b>them</b>.', { exact: true }).waitFor();
    assert.equal(await fold.locator('summary').textContent(), 'Reasoning');
    await chat.delta([{ ...answer('Sum: 4'), reasoning: 'Add <b>them</b>.' }]);
    await page.locator('.markdown').getByText('Sum: 4').waitFor();
    assert.equal(await fold.locator('.reasoning-body').isVisible(), true);
    assert.equal(await fold.locator('summary:focus').count(), 1);
    assert.deepEqual(chat.complaints, []);
  });

  test('an answer is announced once, when it is complete: the log is given a new element', async () => {
    const { page } = chat;
    const last = page.locator('[data-kind="assistant"]').last();
    await chat.snapshot([answer('Said before.')]);
    const before = await page.locator('[data-kind="assistant"]').elementHandle();
    const streamed = { ...answer('It **is** ', true), key: 'b' };
    await chat.delta([streamed], { order: ['a', 'b'] });
    await chat.post({ type: 'delta', items: [], texts: [{ key: 'b', append: 'done.', reasoning: '' }] });
    await page.locator('.markdown').getByText('It is done.').waitFor();
    assert.equal(await last.getAttribute('aria-live'), 'off');
    const streaming = await last.elementHandle();
    await chat.delta([{ ...streamed, text: 'It **is** done.', streaming: false }]);
    await page.locator('[data-kind="assistant"]:not([aria-live])').nth(1).waitFor();
    assert.equal(await streaming?.evaluate(el => el.isConnected), false);
    assert.equal(await last.textContent(), 'It is done.');
    assert.equal(await last.evaluate(el => el.closest('[aria-live]').role), 'log');
    assert.equal(await before?.evaluate(el => el.isConnected), true);
  });

  test('what becomes of a card is told once, in a line; the card that is drawn anew is not read out again', async () => {
    const { page } = chat;
    const news = page.locator('.card-news > p');
    await chat.snapshot([card(), card({ id: 'p2', label: 'Edit b.ts' })]);
    assert.equal(await news.count(), 0);
    await chat.delta([card(recommended)]);
    await chat.delta([card({ state: { kind: 'applying', action: 'apply' } })]);
    await chat.delta([
      card({ state: resolved('applied') }),
      card({ id: 'p2', label: 'Edit b.ts', parts: parts() }),
    ]);
    await chat.delta([card({ state: resolved('applied') })]);
    assert.deepEqual(await news.allTextContents(), [
      'Edit src/a.ts (1 edit), The model recommends Apply: Tests pass.',
      'Edit src/a.ts (1 edit), Applied by you',
      'Edit b.ts, 1 applied · 1 discarded · 1 left',
    ]);
    assert.equal(await page.locator('.card-news').getAttribute('aria-live'), 'polite');
    assert.deepEqual(await page.locator('.card').evaluateAll(all => all.map(one => one.ariaLive)), [
      'off',
      'off',
    ]);
    // A new card is news as a whole.
    await chat.delta([card({ id: 'p3' })], { order: ['p:p1', 'p:p2', 'p:p3'] });
    assert.equal(await page.locator('[data-preview-id="p3"]').evaluate(one => one.ariaLive), null);
    // One that goes once it is resolved is told of too, and the keyboard does not fall back to the top of the page.
    await page.locator('[data-preview-id="p3"] [data-action="discard"]').focus();
    await chat.delta([card({ id: 'p3', state: resolved('discarded') })], {
      order: ['p:p1'],
    });
    assert.equal(await news.last().textContent(), 'Edit src/a.ts (1 edit), Discarded by you');
    assert.equal(await page.locator('.card').count(), 1);
    assert.equal(await page.locator(':focus').getAttribute('class'), 'scroller');
  });

  test('a long chat without any control is scrolled by keyboard', async () => {
    const { page } = chat;
    const long = Array.from({ length: 60 }, (_, i) => `Paragraph ${i}.`).join('\n\n');
    await chat.snapshot([answer(long)]);
    const region = page.getByRole('region', { name: 'Conversation' });
    await page.locator('#prompt').focus();
    for (let i = 0; i < 10 && !(await region.evaluate(el => el.matches(':focus'))); i++)
      await page.keyboard.press('Shift+Tab');
    const scrolledTo = (top: number) =>
      region.evaluate((el, wanted) => {
        const isThere = (done: (is: boolean) => void): void =>
          el.scrollTop === wanted
            ? done(true)
            : el.ownerDocument.defaultView.requestAnimationFrame(() => isThere(done));
        return new Promise(isThere);
      }, top);
    const end = await region.evaluate(el => el.scrollTop as number);
    assert.ok(end > 0);
    await page.keyboard.press('Home');
    await scrolledTo(0);
    await page.keyboard.press('End');
    await scrolledTo(end);
  });

  test('the list follows the end only while the person is there', async () => {
    const { page } = chat;
    const long = Array.from({ length: 60 }, (_, i) => `Paragraph ${i}.`).join('\n\n');
    await chat.snapshot([prompt('u', 'Hi'), answer(long, true)], { state: 'running' });
    const scroller = page.locator('.scroller');
    const fromEnd = () => scroller.evaluate(el => el.scrollHeight - el.scrollTop - el.clientHeight);
    const grow = () =>
      chat.post({ type: 'delta', items: [], texts: [{ key: 'a', append: `\n\n${long}`, reasoning: '' }] });
    assert.ok((await fromEnd()) < 2);
    await grow();
    assert.ok((await fromEnd()) < 2);
    await scroller.evaluate(el => (el.scrollTop = 100));
    await page.locator('.to-end').waitFor({ state: 'visible' });
    await grow();
    assert.equal(await scroller.evaluate(el => el.scrollTop), 100);
    await page.locator('.to-end').click();
    assert.ok((await fromEnd()) < 2);
  });

  test('what was unfolded stays unfolded', async () => {
    const { page } = chat;
    await chat.snapshot([tool({ status: 'running', output: { text: '' } })]);
    assert.doesNotMatch((await page.getByRole('log').textContent()) ?? '', /[a-z]_[a-z]/);
    await page.getByRole('log').locator('summary').click();
    await chat.delta([tool()]);
    assert.equal(await page.locator('details[open]').isVisible(), true);
    assert.deepEqual(await page.locator('details pre').allTextContents(), ['{}', 'x']);
  });

  test('messages that are none are ignored', async () => {
    await chat.snapshot([prompt('u', 'Hi')]);
    await chat.post({ type: 'snapshot' });
    await chat.post({ type: 'delta', items: [{ kind: 'user', key: 'u', text: 1 }], texts: [] });
    await chat.post({ type: 'nothing' });
    assert.equal(await chat.page.locator('.bubble').textContent(), 'You: Hi');
  });

  test('narrow and at 200 % zoom, nothing is wider than the panel', async () => {
    const { page } = chat;
    const word = 'unbreakable'.repeat(40);
    await page.setViewportSize({ width: 150, height: 400 });
    await chat.snapshot(
      [
        prompt('u', word),
        answer(`${word}\n\n\`\`\`\n${word}\n\`\`\``),
        tool({ summary: word }),
        card({ label: word }),
        turn({ agent: word, rows: rows('pending').map(row => ({ ...row, path: word })) }),
      ],
      {
        model: word,
        state: 'awaitingReview',
      },
    );
    const wide = await page
      .locator(':is(html, .scroller)')
      .evaluateAll(all => all.map(el => el.scrollWidth - el.clientWidth));
    assert.deepEqual(wide, [0, 0]);
    const outside = await page
      .locator('button:visible')
      .evaluateAll(all => all.filter(el => el.getBoundingClientRect().right > 150.5).map(el => el.className));
    assert.deepEqual(outside, []);
  });
});
