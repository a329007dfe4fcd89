import * as z from 'zod/mini';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { defineTool } from './tool.ts';

/** Lists the pending previews of the conversation, or shows one preview as it is now. */
export const pendingTool = defineTool({
  name: 'pending',
  label: 'Pending',
  description: 'List pending previews: revision, files, who decides. With id, its diff.',
  parameters: z.object({
    id: z.optional(z.string()),
    offset: z.optional(z.int().check(z.minimum(0))),
  }),
  readOnly: true,
  async execute({ id, offset = 0 }, { own, noteShown }) {
    const previews = await own?.();
    const open = (await previews?.open()) ?? [];
    const { pendingLook, pendingList } = await import('./pendingReport.ts');
    if (id === undefined) {
      const { listed, text } = pendingList(open);
      for (const preview of listed) previews?.noteStale(preview);
      return textResult(text);
    }
    const { preview, text, end } = await pendingLook(open, id, offset);
    previews?.noteStale(preview);
    noteShown?.(preview, { from: offset, text, end });
    return textResult(text);
  },
});
