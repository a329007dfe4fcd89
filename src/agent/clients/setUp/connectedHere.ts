import { readFile } from 'node:fs/promises';
import * as path from 'node:path';
import { knownAgents } from './knownAgents.ts';

/** Programs of Redline that the files of a connected agent name. */
const PROGRAMS = /redline-(?:mcp|gate)\.cjs/;

/** Whether one of the folders has the files that connect an agent. @param name as in the list of known agents */
export async function isConnectedHere(name: string, folders: readonly string[]): Promise<boolean> {
  const files = knownAgents.find(agent => agent.name === name)?.files.flatMap(({ names }) => names) ?? [];
  const texts = folders.flatMap(folder =>
    files.map(file => readFile(path.join(folder, file), 'utf8').catch(() => '')),
  );
  return (await Promise.all(texts)).some(text => PROGRAMS.test(text));
}
