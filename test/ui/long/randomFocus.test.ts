/** Steps by mouse and keys in random order: wherever they lead, the keys go somewhere. `SEED=…` plays others. */
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { limitMs, polled } from '../../../scripts/lib/limits.mjs';
import type { Workbench } from '../support/workbench.mjs';
import { exactLens } from '../support/diffPage.ts';
import { drivenTest, type DrivenWorkbench } from '../support/drivenWorkbench.ts';

const STEPS = 100;
const SEED = Number(process.env['SEED'] ?? 1);
/** How many previews are staged at once. */
const BATCH = 6;
const MAX_MS = limitMs(900_000);

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Does a step, if it is possible now; otherwise another one is tried. */
type Step = () => Promise<boolean>;

drivenTest(
  `the focus is never lost in ${STEPS} random steps of mouse and keys`,
  { settings: { 'redline.resolve.modelAuthority': 'none' } },
  async driven => {
    const { workbench } = driven;
    const random = randomOf(SEED);
    const steps = stepsIn(workbench, random);
    const names = Object.keys(steps);
    const done: string[] = [];
    await workbench.openRedlineChat();
    await stage(driven, 0);
    await workbench.treeRow('Change part').waitFor();
    try {
      while (done.length < STEPS) {
        if ((await driven.run(({ api }) => api.previews.list().length)) === 0)
          await stage(driven, done.length);
        const name = names[Math.floor(random() * names.length)] ?? assert.fail();
        if (!(await steps[name]?.())) continue;
        done.push(name);
        await polled(`the focus to be somewhere after step ${done.length}, ${name}`, () =>
          focusIn(workbench),
        );
      }
    } finally {
      console.log(`seed ${SEED}, ${done.length} steps: ${done.join(', ')}`);
    }
    const { applied, discarded } = await driven.run(({ api }) => ({
      applied: api.previews.ledger().filter(({ outcome }) => outcome === 'applied').length,
      discarded: api.previews.ledger().filter(({ outcome }) => outcome === 'discarded').length,
    }));
    console.log(`${applied} applied, ${discarded} discarded`);
    assert.ok(applied > 0 && discarded > 0, 'the steps decide something');
  },
  MAX_MS,
);

/** Stages previews of a file with two hunks, a new file, a deleted one and two files. */
function stage(driven: DrivenWorkbench, round: number): Promise<void> {
  return driven.run(
    ({ api, vscode, fs }, { round, batch }) => {
      const [folder] = vscode.workspace.workspaceFolders ?? [];
      if (!folder) throw new Error('No folder is open');
      const before = Array.from({ length: 40 }, (_, n) => `const value${n} = ${n};\n`).join('');
      const after = before.replace('= 10;', '= ten;').replace('= 25;', '= many;');
      for (let n = 1; n <= batch; n++) {
        const path = `part${round}-${n}.ts`;
        if (n % 3 > 0) fs.writeFileSync(`${folder.uri.fsPath}/${path}`, before);
        const change = { path, before: n % 3 === 0 ? null : before, after: n % 3 === 2 ? null : after };
        const second = { path: `more${round}-${n}.ts`, before: null, after };
        api.previews.push({
          label: `Change part ${round}-${n}`,
          sourceToolName: 'test',
          changes: n === 4 ? [{ ...change, after }, second] : [change],
        });
      }
    },
    { round, batch: BATCH },
  );
}

/** What a person may do at any moment. */
function stepsIn(workbench: Workbench, random: () => number): Record<string, Step> {
  const { page } = workbench;
  const key =
    (keys: string): Step =>
    async () => {
      await page.keyboard.press(keys);
      return true;
    };
  const command =
    (name: string): Step =>
    async () => {
      await workbench.runCommand(name);
      return true;
    };
  const click =
    (place: () => Locator): Step =>
    async () => {
      const all = await place().all();
      const one = all[Math.floor(random() * all.length)];
      // What is there may be drawn anew just then.
      return (
        one !== undefined &&
        (await one.click({ timeout: 2_000 }).then(
          () => true,
          () => false,
        ))
      );
    };
  const rows = (): Locator => page.locator('.pane-body .monaco-list-row').filter({ hasText: /part|more/ });
  return {
    next: key('Shift+Alt+PageDown'),
    previous: key('Shift+Alt+PageUp'),
    'next hunk': key('Alt+F5'),
    apply: key('Control+Enter'),
    discard: key('Control+Backspace'),
    'apply hunk': key('Control+Y'),
    'discard hunk': key('Control+N'),
    'lens Apply': click(() => exactLens(workbench, 'Apply')),
    'lens Discard': click(() => exactLens(workbench, 'Discard')),
    'lens Create': click(() => exactLens(workbench, 'Create')),
    'title Apply': click(() => workbench.editorTitleAction('Apply')),
    row: click(rows),
    'row and Enter': async () => (await click(rows)()) && key('Enter')(),
    'row and down': async () => (await click(rows)()) && key('ArrowDown')(),
    'status bar': click(() => workbench.statusBarItem('pending')),
    'into the chat': command('Redline: Focus on Chat View'),
    close: async () => {
      if ((await workbench.statusBarItem('pending').count()) === 0) return false;
      await page.keyboard.press('Control+W');
      // With no editor left, VS Code has nothing to give the focus to. The review goes on from there.
      return command('Redline: Next Preview')();
    },
  };
}

/** The part of the window that has the focus; `undefined` where the keys would go nowhere. */
function focusIn({ page }: Workbench): Promise<string | undefined> {
  return page.evaluate<string | undefined>(`(() => {
    const { activeElement: focused, body } = document;
    if (!focused || focused === body || focused.classList.contains('monaco-workbench')) return undefined;
    return focused.closest('.part, .quick-input-widget')?.className ?? focused.tagName;
  })()`);
}
