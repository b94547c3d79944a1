import { compileCheck } from '@sallyport/contract/check';
import { type Static, Type } from '@sallyport/contract/schema';
import { refuse } from '@sallyport/store/errors';
import { askLocal } from '../../../net/local-api.ts';

/** Without a version: the newest that the one who answers speaks. Running containers only, and nothing that a caller could change. */
const PATH = '/containers/json';
const TIMEOUT_MS = 5_000;
const LONGEST_ANSWER = 8 * 1024 * 1024;
const MOST_CONTAINERS = 5_000;

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const Text = Type.String({ maxLength: 4_096 });
const PortNumber = Type.Integer({ minimum: 0, maximum: 65_535 });

const Endpoint = Type.Object({ IPAddress: Type.Optional(Text), GlobalIPv6Address: Type.Optional(Text) });

/** What is read of a container, as Docker and Podman tell it: Podman has null in place of empty lists and leaves out addresses. */
const EngineContainer = Type.Object({
  Id: Text,
  Names: Type.Optional(nullable(Type.Array(Text, { maxItems: 100 }))),
  Image: Text,
  State: Text,
  Ports: Type.Optional(
    nullable(
      Type.Array(
        Type.Object({
          IP: Type.Optional(Text),
          PrivatePort: PortNumber,
          PublicPort: Type.Optional(PortNumber),
          Type: Text,
        }),
      ),
    ),
  ),
  NetworkSettings: Type.Optional(
    nullable(Type.Object({ Networks: Type.Optional(nullable(Type.Record(Text, nullable(Endpoint)))) })),
  ),
});
export type EngineContainer = Static<typeof EngineContainer>;

const answerCheck = compileCheck(Type.Array(EngineContainer, { maxItems: MOST_CONTAINERS }));

const ANOTHER = 'or name another one in SALLYPORT_DOCKER_SOCKET';

/** Why there was no answer, and what to do about it. */
const reasonOf = (socketPath: string, { code, name, message }: NodeJS.ErrnoException): string => {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `There is no Docker socket at ${socketPath}: start Docker or Podman, ${ANOTHER}`;
    case 'EACCES':
    case 'EPERM':
      return `Sallyport's account may not use the socket ${socketPath}: let it, ${ANOTHER}`;
    case 'ECONNREFUSED':
    case 'ENOTSOCK':
      return `Nobody listens at ${socketPath}: start Docker or Podman, ${ANOTHER}`;
    default:
  }
  if (name === 'AbortError' || name === 'TimeoutError') {
    return `Docker did not answer at ${socketPath} within ${TIMEOUT_MS / 1_000} seconds: see whether it still works`;
  }
  return `What listens at ${socketPath} does not answer as Docker does (${message}): ask its service, ${ANOTHER}`;
};

/**
 * Asks Docker, or Podman by its compatible API, which containers run. It reads only, within 5 seconds and 8 MiB. Throws a 503 in
 * words that say what to do when there is no such answer.
 */
export const readContainers = async (socketPath: string): Promise<EngineContainer[]> => {
  const { status, body } = await askLocal({
    socketPath,
    path: PATH,
    timeoutMs: TIMEOUT_MS,
    limit: LONGEST_ANSWER,
  }).catch((error: Error) => {
    throw refuse.unavailable(reasonOf(socketPath, error));
  });
  if (status !== 200) {
    throw refuse.unavailable(
      `Docker answered ${status} at ${socketPath}: a filter before it has to let GET ${PATH} through`,
    );
  }
  if (answerCheck.accepts(body)) return body;
  const problem = body === undefined ? 'no JSON' : `the list${answerCheck.problem(body)?.slice(0, 200) ?? ''}`;
  throw refuse.unavailable(reasonOf(socketPath, new Error(problem)));
};
