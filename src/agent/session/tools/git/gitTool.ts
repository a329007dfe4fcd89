import * as z from 'zod/mini';
import { idsIn } from '../../../hold/preview/overlay.ts';
import { textResult } from '../../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from '../tool.ts';
import type { GitPorts } from './readGit.ts';

/** `git`: reads the history, and how the disk differs from it. It changes nothing, and runs no program that a repository names. */
export function gitTool({ isAvailable, program, locate }: GitPorts): Tool {
  return defineTool({
    name: 'git',
    label: 'Git',
    description: 'Read the git history, and what on disk differs from it.',
    parameters: z.object({
      action: z.enum(['status', 'log', 'show', 'diff', 'blame']),
      ref: z.optional(
        z
          .string()
          .check(z.maxLength(1_000), z.describe('Commit, branch or tag; for log and diff also "a..b".')),
      ),
      path: z.optional(z.string().check(z.describe('File or folder.'))),
      startLine: z.optional(z.int().check(z.minimum(1))),
      endLine: z.optional(z.int().check(z.minimum(1))),
    }),
    readOnly: true,
    isEnabled: isAvailable,
    async execute(query, { signal, pending }) {
      const { readGit } = await import('./readGit.ts');
      const place = await locate(query.path);
      return textResult(await readGit(query, place, { program: program(), signal, pending: idsIn(pending) }));
    },
  });
}
