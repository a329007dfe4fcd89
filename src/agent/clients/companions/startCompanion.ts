import type { CompanionHost, CompanionId, RunningCompanion } from './companionHost.ts';

/**
 * Starts to listen as the companion of an agent. Nothing is announced yet.
 * @throws the error of the system if it cannot listen.
 */
export async function startCompanion(id: CompanionId, host: CompanionHost): Promise<RunningCompanion> {
  switch (id) {
    case 'gemini':
    case 'qwen': {
      const { GeminiCompanion } = await import('./gemini/geminiCompanion.ts');
      return GeminiCompanion.start(id, host);
    }
    case 'claude': {
      const { ClaudeCompanion } = await import('./claude/claudeCompanion.ts');
      return ClaudeCompanion.start(host);
    }
  }
}
