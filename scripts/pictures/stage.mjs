/** The scene of the pictures: a VS Code with as little as possible beside Redline, and a model that follows a script. */
import { startScriptedServer } from '../../test/support/scriptedServer.ts';

/** The name that the chat shows for the model. */
const MODEL = 'your-model';

/** Nothing that blinks, moves or tells of this machine. */
export const SETTINGS = {
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
 * Plays with a model that answers by a script, and fails if Redline asked anything else of it.
 * @template T
 * @param {import('../../test/support/scriptedServer.ts').Script} script
 * @param {(settings: Record<string, unknown>) => Promise<T>} play is given the user settings with that model
 * @returns {Promise<T>}
 */
export async function withModel(script, play) {
  const server = await startScriptedServer(script, { models: [MODEL, 'another-model'] });
  try {
    const result = await play({
      ...SETTINGS,
      'redline.openai.baseUrl': server.baseUrl,
      'redline.openai.model': MODEL,
    });
    if (server.violations.length > 0) throw new Error(server.violations.join('\n'));
    return result;
  } finally {
    await server.close();
  }
}
