/** The path that a rule file means: files are named relative to the file that names them, as in ModSecurity 3. */
export const resolveBeside = (file: string, path: string): string => {
  const slash = file.lastIndexOf('/');
  return path.startsWith('/') || slash === -1 ? path : `${file.slice(0, slash + 1)}${path}`;
};
