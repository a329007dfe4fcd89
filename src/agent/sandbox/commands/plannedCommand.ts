import * as z from 'zod/mini';
import type { Preview } from '../../hold/preview/preview.ts';
import type { CommandPlan } from './commandPlan.ts';
import type { SandboxKind } from './sandbox.ts';

const details = z.object({
  command: z.string(),
  folder: z.string(),
  shell: z.string(),
  // Missing in previews of earlier versions.
  arguments: z._default(z.array(z.string()), []),
  environment: z.record(z.string(), z.nullable(z.string())),
  timeLimit: z.number(),
  background: z.optional(z.literal(true)),
  // Missing where it runs on disk.
  sandbox: z.optional(z.object({ engine: z.enum(['overlay', 'copy']), isolated: z.boolean() })),
});

/** The command of a preview, with the sandbox in which it runs; without one, it runs on disk. */
export type PlannedCommand = CommandPlan & { readonly sandbox?: SandboxKind };

/** The command that a preview runs; `undefined` if it runs none. */
export function commandOf(preview: Preview): PlannedCommand | undefined {
  if (preview.purpose !== 'command') return undefined;
  const { data } = details.safeParse(preview.details);
  if (!data) return undefined;
  const { sandbox, ...plan } = data;
  return sandbox ? { ...plan, sandbox } : plan;
}
