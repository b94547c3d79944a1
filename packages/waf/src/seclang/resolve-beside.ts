/** The path that a rule file means: files are named relative to the file that names them, as in ModSecurity 3. */
export const resolveBeside = (file: string, path: string): string => {
  const directory = file.slice(0, file.lastIndexOf('/') + 1);
  return path.startsWith('/') ? path : `${directory}${path}`;
};
