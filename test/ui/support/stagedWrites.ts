import type { Workbench } from './workbench.mjs';

/** A prompt of which the model without a server makes a preview. */
export const write = (n: number): string => `/write made${n}.txt :: content ${n}`;

/** Stages previews of new files one after the other, each once the one before is pending. */
export async function stageWrites(workbench: Workbench, ...numbers: number[]): Promise<void> {
  await workbench.openRedlineChat();
  for (const n of numbers) {
    await workbench.sendChat(write(n));
    await workbench.treeRow(`Create made${n}.txt`).waitFor();
  }
}
