import * as z from 'zod/mini';
import { textResult } from '../preview/pendingAction.ts';
import { plural } from '../text/plural.ts';
import { byImportance, problemLine, severities, type Problem, type Problems } from './problems.ts';
import { defineTool, type Tool } from './tool.ts';

/** The most problems in one result. */
const MAX_PROBLEMS = 100;
/** The most paths in one call. */
const MAX_PATHS = 100;

/** The tool that reads VS Code's Problems. */
export function getDiagnosticsTool(problems: Problems): Tool {
  return defineTool({
    name: 'get_diagnostics',
    label: 'Get Diagnostics',
    description:
      'List the Problems that VS Code shows for files of the workspace: errors, warnings and information from compilers and linters. Many of them check only files that are open, so none does not mean that a file is correct.',
    parameters: z.object({
      paths: z.optional(
        z
          .array(z.string().check(z.minLength(1)))
          .check(
            z.minLength(1),
            z.maxLength(MAX_PATHS),
            z.describe('Files and folders, e.g. ["src/app.ts", "test"]. Default: the whole workspace.'),
          ),
      ),
    }),
    readOnly: true,
    async execute({ paths: inputs }, { workspace, pending }) {
      const paths = inputs && [
        ...new Set(await Promise.all(inputs.map(input => workspace.resolvePath(input)))),
      ];
      const found = [...problems.list(paths)].sort(byImportance);
      const shown = found.slice(0, MAX_PROBLEMS);
      const rest =
        found.length > shown.length
          ? [`Only the first ${MAX_PROBLEMS} are shown, the worst first. Name fewer paths to see the others.`]
          : [];
      const isAsked = (path: string): boolean => paths?.some(asked => isWithin(path, asked)) ?? true;
      const changed = pending.paths().filter(isAsked);
      const asIs =
        changed.length > 0 ? ['They are about the files as they are, without the pending previews.'] : [];
      const where = paths ? ` in ${paths.join(', ')}` : '';
      const head = [`${countOf(found)}${where}.`, ...rest, ...asIs].join(' ');
      return textResult([head, ...shown.map(problemLine)].join('\n'));
    },
  });
}

/** Whether a path is the other one, or below it. */
export function isWithin(path: string, fileOrFolder: string): boolean {
  return path === fileOrFolder || path.startsWith(`${fileOrFolder}/`);
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
