/** The scene of the pictures, a VS Code with as little as possible beside Redline, and what writes them. */
import * as path from 'node:path';
import { createRequire } from 'node:module';
import { Workbench } from '../../test/ui/support/workbench.mjs';
import { installPackage } from '../lib/installPackage.mjs';
import { downloads } from '../lib/paths.mjs';

const SHARP = 'sharp@0.35.5';

/** Nothing that blinks, moves or tells of this machine. */
const SETTINGS = {
  'breadcrumbs.enabled': false,
  'chat.commandCenter.enabled': false,
  'diffEditor.renderSideBySide': false,
  'editor.cursorBlinking': 'solid',
  'editor.matchBrackets': 'never',
  'editor.minimap.enabled': false,
  'editor.occurrencesHighlight': 'off',
  'editor.overviewRulerBorder': false,
  'editor.overviewRulerLanes': 0,
  'editor.codeLensFontSize': 13,
  'editor.renderLineHighlight': 'none',
  'editor.scrollBeyondLastLine': false,
  'editor.scrollbar.horizontal': 'hidden',
  'editor.scrollbar.vertical': 'hidden',
  'editor.stickyScroll.enabled': false,
  'window.commandCenter': false,
  'window.menuBarVisibility': 'hidden',
  'workbench.colorCustomizations': { 'scrollbarSlider.background': '#00000000' },
  'workbench.layoutControl.enabled': false,
  'workbench.navigationControl.enabled': false,
  'workbench.reduceMotion': 'on',
};

/**
 * Plays in a VS Code of its own. When that fails, a picture of the window is kept.
 * @template T
 * @param {import('../../test/ui/support/workbench.mjs').WorkbenchOptions} options
 * @param {(workbench: Workbench) => Promise<T>} play
 * @returns {Promise<T>}
 */
export async function onStage({ settings, ...options }, play) {
  const workbench = await Workbench.open({ ...options, settings: { ...SETTINGS, ...settings } });
  try {
    return await play(workbench);
  } catch (error) {
    console.error(`The window's last picture: ${await workbench.screenshot('failed')}`);
    throw error;
  } finally {
    await workbench.close();
  }
}

/** Sharp, which joins and writes pictures. Who takes none needs none of its 20 MB: it is installed when they are taken. */
export async function loadSharp() {
  const folder = path.join(downloads, 'pictures', SHARP);
  await installPackage(SHARP, folder);
  return createRequire(path.join(folder, 'package.json'))('sharp');
}
