import { UserError } from '@cinnabar/sdk';

type Environment = Readonly<Record<string, unknown>>;

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * Puts the values of environment variables in place of `${NAME}`. Done when a server is started, so that a secret is in no setting.
 * @throws UserError naming the variable that is not set
 */
export function resolveReferences(text: string, env: Environment): string {
  return text.replace(REFERENCE, (_, name: string) => {
    const value = env[name];
    if (typeof value === 'string') return value;
    throw new UserError(`the environment variable ${name} is not set`);
  });
}

export function resolveAll(values: Readonly<Record<string, string>> | undefined, env: Environment) {
  return Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, resolveReferences(value, env)]));
}
