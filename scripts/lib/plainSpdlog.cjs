/**
 * Takes the place of the native `@vscode/spdlog` inside the headless VS Code: the same exports, files written with
 * Node. Copied there by headlessCode.mjs. The exports are assigned one by one so that ES modules can name them.
 */
const fs = require('node:fs');
const path = require('node:path');

const LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'];

class Logger {
  #file;
  #level = LEVELS.indexOf('info');
  #plain = false;

  constructor(_name, file) {
    this.#file = file;
    fs.mkdirSync(path.dirname(file), { recursive: true });
  }

  #write(level, message) {
    if (level < this.#level) return;
    const line = this.#plain ? message : `${new Date().toISOString()} [${LEVELS[level]}] ${message}\n`;
    try {
      fs.appendFileSync(this.#file, line);
    } catch {
      // The folder went away with the run that owned it.
    }
  }

  trace(message) {
    this.#write(0, message);
  }
  debug(message) {
    this.#write(1, message);
  }
  info(message) {
    this.#write(2, message);
  }
  warn(message) {
    this.#write(3, message);
  }
  error(message) {
    this.#write(4, message);
  }
  critical(message) {
    this.#write(5, message);
  }
  getLevel() {
    return this.#level;
  }
  setLevel(level) {
    this.#level = level;
  }
  clearFormatters() {
    this.#plain = true;
  }
  setPattern() {}
  flush() {}
  drop() {}
}

const create = async (name, file) => new Logger(name, file);

exports.version = 0;
exports.Logger = Logger;
exports.createRotatingLogger = create;
exports.createAsyncRotatingLogger = create;
exports.setLevel = () => {};
exports.setFlushOn = () => {};
