/** The worker that copies a folder for a view. */
export const FREEZE_WORKER = new URL('../../src/agent/sandbox/agentView/freezeWorker.ts', import.meta.url);
