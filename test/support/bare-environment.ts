const { PATH = '', NODE_COMPILE_CACHE } = process.env;

/** What a process of ours needs to start, and nothing that tells it of a deployment. */
export const bareEnvironment: Readonly<Record<string, string>> = {
  PATH,
  ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }),
};
