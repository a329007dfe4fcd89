import * as z from 'zod/mini';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { defineTool } from './tool.ts';

/** Lists the pending previews of the conversation, or shows one preview as it is now. */
export const pendingTool = defineTool({
  name: 'pending',
  label: 'Pending',
  description: 'List the pending previews: revision, files, and who decides on each. With id, show its diff.',
  parameters: z.object({ id: z.optional(z.string()) }),
  readOnly: true,
  async execute({ id }, { own }) {
    const previews = await own?.();
    const open = (await previews?.open()) ?? [];
    for (const { preview } of open) if (preview.id === id) previews?.noteShown(preview, true);
    const { pendingReport } = await import('./pendingReport.ts');
    return textResult(await pendingReport(open, id));
  },
});
