import { isSecretName } from '../observability/redactor.js';

/** Read by the SDKs of clouds from the process itself, in containers alone, and worth nothing elsewhere. */
const NEEDED = new Set(['AWS_CONTAINER_AUTHORIZATION_TOKEN']);

/**
 * Takes tokens and keys out of the environment of the process, once the configuration has read them and before any plugin is evaluated: what a
 * plugin gets of them is what it has declared. Processes that are started later do not inherit them either.
 * @returns the names
 */
export function scrubEnvironment(env: NodeJS.ProcessEnv): readonly string[] {
  const names = Object.keys(env).filter((name) => isSecretName(name) && !NEEDED.has(name));
  for (const name of names) delete env[name];
  return names;
}
