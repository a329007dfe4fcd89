import type { CustomToolFactory } from './redline.d.ts';

/** Sorts the lines of a file. The change waits as a diff until it is applied. */
const factory: CustomToolFactory = pi =>
  pi.defineTool({
    name: 'sort_lines',
    label: 'Sort Lines',
    description: 'Propose to sort the lines of a text file of the workspace.',
    parameters: pi.zod.object({
      path: pi.zod.string().describe('Path inside the workspace.'),
    }),

    async execute(_toolCallId, { path }, _onUpdate, ctx) {
      const before = await ctx.readFile(path);
      if (before === null) throw new pi.ToolError(`There is no file ${path}. Choose one that exists.`);
      const lines = before.split('\n');
      const end = lines.at(-1) === '' ? lines.splice(-1) : [];
      const after = [...lines.sort(), ...end].join('\n');
      pi.pushPendingAction({
        label: `Sort ${path}`,
        sourceToolName: 'sort_lines',
        changes: [{ path, before, after }],
      });
      return { content: [{ type: 'text', text: `Prepared ${path} with its ${lines.length} lines sorted.` }] };
    },
  });

export default factory;
