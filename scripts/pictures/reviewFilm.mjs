/** The moving picture of the README: a change is asked for, proposed, looked at and applied; another by the model itself. */
import * as assert from 'node:assert/strict';
import { Workbench } from '../headless/workbench.mjs';
import { Film } from './film.mjs';
import { collapse, withModel } from './stage.mjs';

const CART = 'src/cart.ts';
const SPEC = 'src/cart.test.ts';
const OLD = 'total += item.price;';
const NEW = 'total += item.price * item.quantity;';
const CHECK = 'assert.equal(total([tea]), 600);';
const TEST = `import assert from 'node:assert';
import { total } from './cart';

const tea = { name: 'tea', price: 300, quantity: 2 };
${CHECK}
`;
const VIEWPORT = { width: 960, height: 580 };
const SIDE_BAR = 350;
const TYPING_MS = 110;

const SCRIPT = [
  {
    text: 'The loop adds each price once. I multiply it by the quantity.',
    toolCalls: [{ name: 'edit_file', arguments: { path: CART, edits: [{ old: OLD, new: NEW }] } }],
  },
  {
    toolCalls: [
      {
        name: 'resolve',
        arguments: { action: 'apply', reason: 'Each item now counts as often as it is bought.' },
      },
    ],
  },
  { text: 'Please look at the diff.' },
  { text: 'Applied. The total counts quantities now.' },
  { toolCalls: [{ name: 'write_file', arguments: { path: SPEC, content: TEST } }] },
  {
    toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason: 'Two teas for 3 cost 6.' } }],
  },
  { text: 'The test is written.' },
];

/**
 * Takes the film. Linux x64 only.
 * @returns {Promise<Buffer>} a GIF
 * @throws {Error} when the window or a file is not as the story says
 */
export function takeReviewFilm() {
  return withModel(SCRIPT, async (settings, workspace) => {
    const theme = { 'workbench.colorTheme': 'Dark 2026' };
    const workbench = await Workbench.open({
      settings: { ...settings, ...theme },
      workspace,
      viewport: VIEWPORT,
    });
    try {
      return await play(workbench, new Film(workbench.page));
    } catch (error) {
      console.error(`The window's last picture: ${await workbench.screenshot('film-failed')}`);
      throw error;
    } finally {
      await workbench.close();
    }
  });
}

/**
 * @param {Workbench} workbench
 * @param {Film} film
 */
async function play(workbench, film) {
  const chat = workbench.chatFrame();
  const prompt = chat.locator('textarea#prompt');
  const log = chat.locator('.log');
  /** Says what happens from now on, beside the line of the file that the story is about, as it is on disk. */
  const tell = (title, file, pattern, isNew = false) => {
    const code = workbench
      .readFile(file)
      ?.split('\n')
      .find(line => line.includes(pattern))
      ?.trim();
    film.lines = { title, file, code: code ?? '(no such file)', isNew };
    return code;
  };
  const type = async text => {
    const words = text.split(/(?<= )/);
    for (const at of words.keys()) {
      await prompt.fill(words.slice(0, at + 1).join(''));
      await film.shoot(TYPING_MS);
    }
  };

  await workbench.openFile(CART);
  await workbench.openRedlineChat();
  await workbench.resizeSideBar(SIDE_BAR);
  await chat.getByText('your-model').waitFor();

  tell('1  You ask for a change', CART, 'total +=');
  await film.shoot(1300);
  await type('The total ignores the quantity. Fix it.');
  await film.shoot(700);
  // A diff opens beside what is open, and there is no room for two.
  await workbench.runCommand('View: Close All Editors');
  await prompt.press('Enter');
  await workbench.lens('Apply').waitFor();
  await log.getByText('Please look at the diff.').waitFor();
  await chat.getByText('Waiting for your review').waitFor();
  await collapse(workbench, 'Pending');

  assert.equal(tell('2  The agent proposes it as a diff. Nothing is written yet', CART, 'total +='), OLD);
  await film.shoot(3200);
  await film.showPointer({ x: VIEWPORT.width * 0.6, y: VIEWPORT.height * 0.85 });
  await film.pointAt(workbench.lens('Apply'));
  await film.shoot(700);
  await workbench.lens('Apply').click();
  await workbench.waitForFile(CART, text => text?.includes(NEW) === true);
  await log.getByText('Applied. The total').waitFor();
  await workbench.editorTab('cart.ts (Redline').waitFor({ state: 'detached' });
  await film.hidePointer();
  await workbench.openFile(CART);

  assert.equal(tell('3  You apply it. Exactly what was shown is written', CART, 'total +=', true), NEW);
  await film.shoot(2800);

  await chat.locator('#mode').selectOption('apply');
  tell('4  In Auto, the model applies its own previews', SPEC, CHECK);
  await film.shoot(900);
  await type('Add a test for it.');
  await film.shoot(500);
  await prompt.press('Enter');
  await log.getByText('The test is written.').waitFor();
  await workbench.openFile(SPEC);
  assert.equal(
    tell('4  In Auto, the model applies its own previews. You can undo each', SPEC, CHECK, true),
    CHECK,
  );
  await film.shoot(3400);
  return film.develop();
}
