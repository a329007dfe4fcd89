import { ToolError } from '../../base/errors.ts';
import { listed, plural } from '../../base/phrases.ts';
import { isText } from '../../hold/preview/fileChange.ts';
import type { PendingContents } from '../../hold/preview/overlay.ts';
import type { ReadableFiles } from '../../hold/preview/workspace.ts';
import { byImportance, isWithin, problemLine, severities, type Problem, type Problems } from './problems.ts';
import type { ToolContext } from './tool.ts';

/** The most problems in one result. */
const MAX_PROBLEMS = 100;

/**
 * The report to the model about problems.
 * @param inputs files and folders as the model writes them; without them, the whole workspace
 * @throws ToolError if none of the inputs exists
 */
export async function diagnosticsReport(
  problems: Problems,
  inputs: readonly string[] | undefined,
  { workspace, pending }: Pick<ToolContext, 'workspace' | 'pending'>,
): Promise<string> {
  const paths = inputs && [...new Set(await Promise.all(inputs.map(input => workspace.resolvePath(input))))];
  const isAsked = (path: string): boolean => paths?.some(asked => isWithin(path, asked)) ?? true;
  const { checked, unchecked: unseenTexts } = proposalsIn(pending, isAsked, problems);
  const asTheyAre = problems.list(paths).filter(({ path }) => !checked.has(path));
  const found = [...asTheyAre, ...[...checked.values()].flatMap(each => each.problems)].sort(byImportance);
  const quiet = (paths ?? []).filter(path => !found.some(problem => isWithin(problem.path, path)));
  const kinds = await kindsOf(workspace, quiet);
  const missing = quiet.filter(path => kinds.get(path) === 'nothing');
  if (paths && paths.length === missing.length)
    throw new ToolError(
      `There is no file or folder ${listed(missing)}. Use list_files to find the right path.`,
    );
  const shown = found.slice(0, MAX_PROBLEMS);
  const rest =
    found.length > shown.length
      ? [`Only the first ${MAX_PROBLEMS} are shown, the worst first. Name fewer paths to see the others.`]
      : [];
  const asProposed =
    checked.size > 0
      ? [`Checked as proposed: ${listed([...checked].map(([path, { id }]) => `${path} (${id})`))}.`]
      : [];
  const asIs =
    unseenTexts.length > 0
      ? [
          `No language service has checked the proposed text of ${listed(unseenTexts)}; the problems listed there are those of the file without it.`,
        ]
      : [];
  const gone = missing.length > 0 ? [`There is no file or folder ${listed(missing)}.`] : [];
  const unseen = quiet.filter(
    path => kinds.get(path) === 'file' && !problems.isOpen(path) && !checked.has(path),
  );
  const unchecked =
    unseen.length > 0
      ? [`Most language services check only open files, and these are not open: ${listed(unseen)}.`]
      : [];
  const where = paths ? ` in ${listed(paths)}` : '';
  const head = [`${countOf(found)}${where}.`, ...rest, ...gone, ...unchecked, ...asProposed, ...asIs].join(
    ' ',
  );
  return [head, ...shown.map(problemLine)].join('\n');
}

/** The proposed texts that language services have checked, and the paths of the others. */
function proposalsIn(
  pending: PendingContents,
  isAsked: (path: string) => boolean,
  problems: Problems,
): {
  readonly checked: ReadonlyMap<string, { readonly id: string; readonly problems: readonly Problem[] }>;
  readonly unchecked: readonly string[];
} {
  const checked = new Map<string, { readonly id: string; readonly problems: readonly Problem[] }>();
  const unchecked: string[] = [];
  for (const path of pending.paths().filter(isAsked)) {
    const content = pending.at(path);
    if (!content) continue;
    const { previewId: id, side } = content;
    const found = side && isText(side) ? problems.ofProposal(id, path, side.text) : undefined;
    if (found) checked.set(path, { id, problems: found });
    else unchecked.push(path);
  }
  return { checked, unchecked };
}

type Kind = 'file' | 'nothing' | 'other';

async function kindsOf(
  workspace: ReadableFiles,
  paths: readonly string[],
): Promise<ReadonlyMap<string, Kind>> {
  return new Map(await Promise.all(paths.map(async path => [path, await kindOf(workspace, path)] as const)));
}

/** The kind of thing at a path. A path that cannot be read as a file is a folder, or holds no text; neither counts as missing. */
async function kindOf(workspace: ReadableFiles, path: string): Promise<Kind> {
  try {
    return (await workspace.read(path)) === undefined ? 'nothing' : 'file';
  } catch (error) {
    if (error instanceof ToolError) return 'other';
    throw error;
  }
}

function countOf(found: readonly Problem[]): string {
  if (found.length === 0) return 'VS Code shows no Problems';
  const counts = severities.flatMap(severity => {
    const count = found.filter(problem => problem.severity === severity).length;
    if (count === 0) return [];
    return [severity === 'information' ? `${count} information` : plural(count, severity)];
  });
  return `${plural(found.length, 'Problem')} (${counts.join(', ')})`;
}
