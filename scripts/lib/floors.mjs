import * as path from 'node:path';
import { inRepo } from './paths.mjs';

/** The rooms of src, lowest floor first. A file imports from its own room and from those below. The longest prefix is a file's room. */
export const FLOORS = [
  'src/agent/base/',
  'src/agent/hold/text/',
  'src/agent/hold/preview/',
  'src/agent/hold/external/',
  'src/agent/sandbox/',
  'src/agent/session/model/',
  'src/agent/session/conversation/',
  'src/agent/session/forcing/',
  'src/agent/session/tools/',
  'src/agent/session/',
  'src/agent/clients/',
  'src/views/',
  'src/extension.ts',
];

/** Pairs of rooms on one floor, or with one port between them: the first imports nothing of the second, but for that file of its own. */
const APART = [
  ['src/views/review/', 'src/views/chat/'],
  ['src/views/review/', 'src/views/agents/'],
  ['src/views/review/', 'src/agent/session/', 'src/views/review/sessionPort.ts'],
  ['src/views/workspace/', 'src/views/review/'],
  ['src/views/workspace/', 'src/views/chat/'],
  ['src/views/workspace/', 'src/views/agents/'],
  ['src/views/storage/', 'src/views/review/'],
  ['src/views/storage/', 'src/views/chat/'],
];

/**
 * Why one file may not import another; `undefined` if it may.
 * @param {string} from both relative to the repository, with slashes
 * @param {string} to
 */
export function forbiddenImport(from, to) {
  const [mine, other] = [from, to].map(floorOf);
  if (mine !== undefined && other !== undefined && other > mine)
    return `${FLOORS[mine]} is below ${FLOORS[other]}: imports go down.`;
  const pair = APART.find(([a, b, port]) => from.startsWith(a) && to.startsWith(b) && from !== port);
  if (!pair) return undefined;
  const [a, b, port] = pair;
  return port ? `Only ${port} imports ${b} in ${a}.` : `${a} imports nothing of ${b}.`;
}

/** The linter's rule: imports of the source go down, types and first use included. */
export const floors = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const root = inRepo();
    const relative = file => path.relative(root, file).split(path.sep).join('/');
    const check = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return;
      const to = path.resolve(path.dirname(context.filename), source.value);
      const message = forbiddenImport(relative(context.filename), relative(to));
      if (message) context.report({ node: source, message });
    };
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    };
  },
};

/** The index in {@link FLOORS}; `undefined` outside of src. */
function floorOf(file) {
  const found = FLOORS.filter(floor => file.startsWith(floor)).sort((a, b) => b.length - a.length)[0];
  return found === undefined ? undefined : FLOORS.indexOf(found);
}
