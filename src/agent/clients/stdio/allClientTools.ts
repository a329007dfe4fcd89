import { builtInTools } from '../../tools/builtIn.ts';
import { clientToolOf, SHARED_TOOLS, type ClientTool, ownTools } from '../clientTools.ts';

const notHere = (): never => {
  throw new Error('Tools run in the window.');
};

/** The tools of every window, as descriptions: they run there. */
export function allClientTools(): readonly ClientTool[] {
  const shared = builtInTools({
    textSearch: { search: notHere },
    astSearcher: {
      engine: { run: notHere, warm: notHere },
      scope: {
        folders: notHere,
        unsaved: notHere,
        files: { read: notHere, placeOf: notHere, encodingOf: notHere },
      },
    },
  });
  const previews = { open: [], ended: [] };
  const own = ownTools(previews, { hasNews: false, onDidHappen: notHere });
  return [...own, ...SHARED_TOOLS.flatMap(name => shared.get(name) ?? [])].map(clientToolOf);
}
