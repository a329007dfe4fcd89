import * as z from 'zod/mini';
import { textResult } from '../../hold/preview/pendingAction.ts';
import type { Problems } from './problems.ts';
import { defineTool, type Tool } from './tool.ts';

/** The most paths in one call. */
const MAX_PATHS = 100;

/** The tool that reads VS Code's Problems. */
export function getDiagnosticsTool(problems: Problems): Tool {
  return defineTool({
    name: 'get_diagnostics',
    label: 'Get Diagnostics',
    description:
      "List VS Code's Problems: errors, warnings and information from compilers and linters, many of which check only open files.",
    parameters: z.object({
      paths: z.optional(
        z
          .array(z.string().check(z.minLength(1)))
          .check(
            z.minLength(1),
            z.maxLength(MAX_PATHS),
            z.describe('Files and folders. Default: the whole workspace.'),
          ),
      ),
    }),
    readOnly: true,
    async execute({ paths }, context) {
      const { diagnosticsReport } = await import('./diagnosticsReport.ts');
      return textResult(await diagnosticsReport(problems, paths, context));
    },
  });
}
