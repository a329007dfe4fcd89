/** The settings files of a VS Code that runs on a server. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { inRepo } from '../lib/paths.mjs';

/** Defaults for a window without welcome pages, telemetry, updates and questions. */
const QUIET_SETTINGS = {
  'telemetry.telemetryLevel': 'off',
  'workbench.startupEditor': 'none',
  'workbench.enableExperiments': false,
  'workbench.tips.enabled': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'security.workspace.trust.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': 'off',
  'extensions.ignoreRecommendations': true,
  'git.openRepositoryInParentFolders': 'never',
  'remote.autoForwardPorts': false,
  'files.autoSave': 'off',
  'files.hotExit': 'off',
  'update.mode': 'none',
  'window.confirmBeforeClose': 'never',
};

/**
 * For a window that nobody looks at. Animations are a tenth of its work, and a hover that opens just as the mouse leaves would stay
 * and cover what is clicked next: VS Code closes it only when the mouse leaves it, too.
 */
export const STILL_SETTINGS = {
  'workbench.reduceMotion': 'on',
  'editor.cursorBlinking': 'solid',
  'workbench.hover.delay': 3_600_000,
};

const userSettings = userDataDir => path.join(userDataDir, 'User', 'settings.json');

/**
 * Writes the settings that a server starts with: the quiet ones into a fresh profile, and the given ones over those
 * that are there.
 * @param {string} userDataDir
 * @param {Record<string, unknown>} [settings]
 */
export function prepareSettings(userDataDir, settings) {
  const quiet = fs.existsSync(userSettings(userDataDir)) ? {} : QUIET_SETTINGS;
  writeSettings(userDataDir, { ...quiet, ...settings });
}

/**
 * Changes user settings. A window reads them when it opens. Settings of scope `machine` go into the server's own file,
 * since a window on a server reads those from there.
 * @param {string} userDataDir
 * @param {Record<string, unknown>} changes undefined removes a setting
 */
export function writeSettings(userDataDir, changes) {
  const { contributes } = JSON.parse(fs.readFileSync(inRepo('package.json'), 'utf8'));
  const { properties } = contributes.configuration;
  const isOfMachine = key => properties[key]?.scope === 'machine';
  const pick = wanted => Object.fromEntries(Object.entries(changes).filter(([key]) => wanted(key)));
  mergeInto(
    userSettings(userDataDir),
    pick(key => !isOfMachine(key)),
  );
  mergeInto(path.join(userDataDir, 'Machine', 'settings.json'), pick(isOfMachine));
}

/** Replaces the file by a rename, so that a window never reads half of it. */
function mergeInto(file, changes) {
  const before = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(`${file}.new`, `${JSON.stringify({ ...before, ...changes }, null, 2)}\n`);
  fs.renameSync(`${file}.new`, file);
}
