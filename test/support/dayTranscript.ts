import { SimulatedPace } from './simulatedPace.ts';

/** The events of a simulated day: what the agent is told, what the person is told, and what they do. */
export class DayTranscript {
  readonly pace = new SimulatedPace();
  readonly lines: string[] = [];

  /** Lets time pass, up to a time of the story. */
  at(hours: number, minutes: number): void {
    this.pace.pass(Math.max(0, (hours * 60 + minutes) * 60_000 - this.pace.now()));
  }

  add(who: string, text: string): void {
    const minutes = Math.floor(this.pace.now() / 60_000);
    const line = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')} ${who}: ${text}`;
    if (line !== this.lines.at(-1)) this.lines.push(line);
  }

  /** Adds what the terminal has told the person. */
  terminal({ output }: { readonly output: string }): void {
    for (const [, line = ''] of output.matchAll(/^redline: (.*)$/gm)) this.add('the terminal says', line);
  }
}
