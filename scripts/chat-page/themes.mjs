/** The colours that the chat's page asks a theme for, in a light, a dark and the two high contrast themes. */

/** By the part of the variable's name behind `--vscode-`: light, dark, high contrast, high contrast light. */
const COLOURS = {
  foreground: ['#3b3b3b', '#cccccc', '#ffffff', '#292929'],
  'sideBar-background': ['#f8f8f8', '#181818', '#000000', '#ffffff'],
  'editor-background': ['#ffffff', '#1f1f1f', '#000000', '#ffffff'],
  'editorWidget-background': ['#f8f8f8', '#202020', '#0c141f', '#ffffff'],
  'editorWidget-foreground': ['#3b3b3b', '#cccccc', '#ffffff', '#292929'],
  descriptionForeground: ['#3b3b3b', '#9d9d9d', '#ffffffb3', '#292929'],
  errorForeground: ['#f85149', '#f85149', '#f48771', '#b5200d'],
  'icon-foreground': ['#3b3b3b', '#cccccc', '#ffffff', '#292929'],
  focusBorder: ['#005fb8', '#0078d4', '#f38518', '#006bbd'],
  contrastBorder: ['', '', '#6fc3df', '#0f4a85'],
  contrastActiveBorder: ['', '', '#f38518', '#006bbd'],
  'button-background': ['#005fb8', '#0078d4', '', '#0f4a85'],
  'button-foreground': ['#ffffff', '#ffffff', '#ffffff', '#ffffff'],
  'button-hoverBackground': ['#0258a8', '#026ec1', '', '#0f4a85'],
  'button-border': ['#0000001a', '#ffffff12', '#6fc3df', '#0f4a85'],
  'button-secondaryBackground': ['#e5e5e5', '#313131', '', '#ffffff'],
  'button-secondaryForeground': ['#3b3b3b', '#cccccc', '#ffffff', '#292929'],
  'button-secondaryHoverBackground': ['#cccccc', '#3c3c3c', '', '#ffffff'],
  'charts-green': ['#388a34', '#89d185', '#89d185', '#374e06'],
  'charts-red': ['#e51400', '#f14c4c', '#f48771', '#ad0707'],
  'chat-requestBorder': ['#0000001a', '#ffffff1a', '#6fc3df', '#0f4a85'],
  'chat-requestBubbleBackground': ['#add6ff4d', '#264f784d', '', ''],
  'dropdown-background': ['#ffffff', '#313131', '#000000', '#ffffff'],
  'dropdown-foreground': ['#3b3b3b', '#cccccc', '#ffffff', '#292929'],
  'dropdown-border': ['#cecece', '#3c3c3c', '#6fc3df', '#0f4a85'],
  'editorSuggestWidget-background': ['#f8f8f8', '#202020', '#0c141f', '#ffffff'],
  'editorSuggestWidget-border': ['#c8c8c8', '#454545', '#6fc3df', '#0f4a85'],
  'editorSuggestWidget-foreground': ['#3b3b3b', '#cccccc', '#ffffff', '#292929'],
  'editorSuggestWidget-selectedBackground': ['#e8e8e8', '#04395e', '', '#0f4a851a'],
  'editorSuggestWidget-selectedForeground': ['#000000', '#ffffff', '#ffffff', '#292929'],
  'editorWarning-foreground': ['#bf8803', '#cca700', '#ffd370', '#895503'],
  'gitDecoration-addedResourceForeground': ['#587c0c', '#81b88b', '#a1e3ad', '#374e06'],
  'gitDecoration-modifiedResourceForeground': ['#895503', '#e2c08d', '#e2c08d', '#895503'],
  'gitDecoration-renamedResourceForeground': ['#007100', '#73c991', '#73c991', '#007100'],
  'input-background': ['#ffffff', '#313131', '#000000', '#ffffff'],
  'input-foreground': ['#3b3b3b', '#cccccc', '#ffffff', '#292929'],
  'input-border': ['#cecece', '#3c3c3c', '#6fc3df', '#0f4a85'],
  'input-placeholderForeground': ['#767676', '#989898', '#ffffffb3', '#292929b3'],
  'inputOption-activeBackground': ['#bed6ed', '#2489db82', '', ''],
  'inputOption-activeBorder': ['#005fb8', '#2488db', '#f38518', '#006bbd'],
  'inputOption-activeForeground': ['#000000', '#ffffff', '#ffffff', '#292929'],
  'list-activeSelectionBackground': ['#e8e8e8', '#04395e', '', '#0f4a851a'],
  'list-activeSelectionForeground': ['#000000', '#ffffff', '#ffffff', '#292929'],
  'list-hoverBackground': ['#f2f2f2', '#2a2d2e', '#ffffff1a', '#0f4a851a'],
  'list-inactiveSelectionBackground': ['#e4e6f1', '#37373d', '', '#0f4a851a'],
  'panel-border': ['#e5e5e5', '#2b2b2b', '#6fc3df', '#0f4a85'],
  'testing-iconFailed': ['#f14c4c', '#f14c4c', '#f14c4c', '#b5200d'],
  'testing-iconPassed': ['#369432', '#73c991', '#73c991', '#007100'],
  'textBlockQuote-border': ['#e5e5e5', '#616161', '#ffffff', '#292929'],
  'textCodeBlock-background': ['#f8f8f8', '#2b2b2b', '#000000', '#f2f2f2'],
  'textLink-foreground': ['#005fb8', '#4daafc', '#21a6ff', '#0f4a85'],
  'textLink-activeForeground': ['#005fb8', '#4daafc', '#21a6ff', '#0f4a85'],
  'textPreformat-background': ['#0000001f', '#3c3c3c', '#ffffff', '#09345f'],
  'textPreformat-foreground': ['#3b3b3b', '#d0d0d0', '#000000', '#ffffff'],
  'textSeparator-foreground': ['#21262d', '#21262d', '#000000', '#292929'],
  'toolbar-hoverBackground': ['#b8b8b850', '#5a5d5e50', '', ''],
  'widget-border': ['#e5e5e5', '#313131', '#6fc3df', '#0f4a85'],
  'widget-shadow': ['#00000029', '#0000005c', '', ''],
  'debugTokenExpression-boolean': ['#0000ff', '#4e94ce', '#75bdfe', '#0000ff'],
  'debugTokenExpression-name': ['#9b46b0', '#c586c0', '#ffffff', '#9b46b0'],
  'debugTokenExpression-number': ['#098658', '#b5cea8', '#89d185', '#098658'],
  'debugTokenExpression-string': ['#a31515', '#ce9178', '#f48771', '#a31515'],
};

const FONTS = {
  'font-family': 'system-ui, "Segoe UI", "Ubuntu", sans-serif',
  'font-size': '13px',
  'editor-font-family': '"Droid Sans Mono", monospace',
  'editor-font-size': '14px',
};

/** By name: the classes that VS Code gives the body of a webview. */
export const THEMES = {
  light: 'vscode-light',
  dark: 'vscode-dark',
  'high contrast': 'vscode-high-contrast',
  'high contrast light': 'vscode-high-contrast vscode-high-contrast-light',
};

/** The names of all variables that are set. */
export const VARIABLES = [...Object.keys(COLOURS), ...Object.keys(FONTS)].map(name => `--vscode-${name}`);

/**
 * The style sheet that VS Code would give the page in a theme.
 * @param {string} theme a key of {@link THEMES}
 */
export function themeCss(theme) {
  const at = Object.keys(THEMES).indexOf(theme);
  const colours = Object.entries(COLOURS).flatMap(([name, values]) =>
    values[at] ? [`--vscode-${name}: ${values[at]};`] : [],
  );
  const fonts = Object.entries(FONTS).map(([name, value]) => `--vscode-${name}: ${value};`);
  return `:root { ${[...colours, ...fonts].join(' ')} }
body { background: var(--vscode-sideBar-background); color: var(--vscode-foreground); margin: 0; padding: 0 20px;
  font-family: var(--vscode-font-family); font-size: var(--vscode-font-size); }
`;
}
