/** The pictures of the walkthrough: one of each step in a dark and in a light theme, for those of high contrast, too. */
import { startScriptedServer } from '../../test/support/scriptedServer.ts';
import { loadSharp, onStage } from './stage.mjs';

/** The themes by the name that `media.image` has for them. */
const THEMES = { dark: 'Dark 2026', light: 'Light 2026' };
/** The size of a picture in pixels of the window; the picture has `SCALE` times as many. */
const SIZE = { width: 560, height: 420 };
const SCALE = 1.5;
/** A window that has room for lists of their full width. */
const WIDE = { width: 800, height: SIZE.height };
/** One that has room for long lists, too. */
const HIGH = { ...WIDE, height: 1.5 * SIZE.height };
/** Of 100, as sharp counts: the fewest colours that look the same. */
const QUALITY = 70;

/** The width of the activity bar, in pixels of the window. */
const ACTIVITY_BAR = 48;
/** The name that the chat shows for the model. */
const MODEL = 'your-model';
const SAID = 'Please have a look.';

const FIX = {
  path: 'src/cart.ts',
  edits: [{ old: 'total += item.price;', new: 'total += item.price * item.quantity;' }],
};
const CURRENCY = {
  path: 'src/money.ts',
  edits: [{ old: 'return (cents / 100).toFixed(2);', new: 'return `${(cents / 100).toFixed(2)} €`;' }],
};
const TEST = {
  path: 'src/cart.test.ts',
  content: "import assert from 'node:assert';\nimport { total } from './cart';\n",
};

/** The model's answers: calls to a prompt, its vote when it is asked for one, and words to everything else. */
function answer({ body }) {
  if (typeof body.tool_choice === 'object') {
    const reason = 'It is exactly what you asked for.';
    return { toolCalls: [{ name: 'resolve', arguments: { action: 'apply', reason } }] };
  }
  const last = body.messages.at(-1);
  const said = last.role === 'user' ? JSON.stringify(last.content) : '';
  if (said.includes('Fix it')) return calls(['edit_file', CURRENCY], ['edit_file', FIX]);
  if (said.includes('Add a test')) return calls(['write_file', TEST]);
  return { text: SAID };
}

const calls = (...all) => ({ toolCalls: all.map(([name, args]) => ({ name, arguments: args })) });

/**
 * Takes the pictures. Linux x64 only.
 * @returns {Promise<Map<string, Buffer>>} PNGs by their names, such as `review-dark.png`
 */
export async function takeWalkthroughPictures() {
  const pictures = new Map();
  for (const [kind, theme] of Object.entries(THEMES)) {
    const server = await startScriptedServer(answer, { models: [MODEL, 'another-model'] });
    const settings = {
      'workbench.colorTheme': theme,
      'redline.openai.baseUrl': server.baseUrl,
      'redline.openai.model': MODEL,
    };
    try {
      const taken = await onStage({ settings, viewport: WIDE, scale: SCALE }, play);
      for (const [step, picture] of taken) pictures.set(`${step}-${kind}.png`, await small(picture));
    } finally {
      await server.close();
    }
    if (server.violations.length > 0) throw new Error(server.violations.join('\n'));
  }
  return pictures;
}

/** Takes the picture of each step. @param {import('../../test/ui/support/workbench.mjs').Workbench} workbench */
async function play(workbench) {
  const { page } = workbench;
  const chat = workbench.chatFrame();
  const log = chat.locator('.log');
  const taken = new Map();
  const take = async (step, x = 0) => {
    await page.mouse.move(0, 0);
    taken.set(
      step,
      await page.screenshot({ clip: { x, y: 0, ...SIZE }, animations: 'disabled', caret: 'hide' }),
    );
  };
  const middle = (WIDE.width - SIZE.width) / 2;

  await workbench.openRedlineChat();
  await workbench.sendChat('The total ignores the quantity. Fix it, and show the currency.');
  await workbench.lens('Apply').waitFor();
  await log.getByText(SAID).waitFor();
  await workbench.statusBarItem('2 pending').waitFor();
  await workbench.runCommand('View: Toggle Primary Side Bar Visibility');
  await page.setViewportSize(SIZE);
  await take('review');

  await page.setViewportSize(WIDE);
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget:visible input.input').fill('>Redline: Discard All');
  await page
    .locator('.quick-input-list')
    .getByText('Redline: Discard All Previews', { exact: true })
    .waitFor();
  await take('discard', middle);
  await page.keyboard.press('Escape');
  await workbench.runCommand('Redline: Discard All Previews');
  await workbench.toast('Discarded 2 previews').waitFor();
  await workbench.runCommand('Notifications: Clear All Notifications');

  await page.setViewportSize(HIGH);
  await workbench.runCommand('Redline: Select Model…');
  await page.locator('.quick-input-list').getByText('another-model').waitFor();
  await take('connect', middle);
  await page.keyboard.press('Escape');
  await page.setViewportSize(WIDE);

  await workbench.openRedlineChat();
  await workbench.runCommand('Redline: New Session');
  await workbench.resizeSideBar(SIZE.width - ACTIVITY_BAR);
  await chat.locator('#mode').selectOption('apply');
  await workbench.sendChat('Add a test for the total.');
  await log.getByText('Applied by the model').waitFor();
  await log.getByText('Accept: Create').waitFor();
  await take('resolve');
  return taken;
}

/** The picture with few colours. */
async function small(png) {
  const sharp = await loadSharp();
  return sharp(png)
    .png({ palette: true, quality: QUALITY, dither: 0, effort: 10, compressionLevel: 9 })
    .toBuffer();
}
