/** Who CrowdSec is to the central API behind its console. */
export interface ConsoleCredentials {
  /** Base URL, without a slash at its end. */
  url: string;
  login: string;
  password: string;
}
