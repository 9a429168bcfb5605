import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { type CheckResult, t } from '@cinnabar/sdk';
import type { ServerSettings } from '../settings.js';

type Environment = Readonly<Record<string, unknown>>;

/** For `doctor`: whether each MCP server can be reached, or its program is there, and the variables that its settings name are set. No program is started. */
export async function checkServers(
  servers: Readonly<Record<string, ServerSettings>>,
  env: Environment,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const wanted = Object.entries(servers).filter(([, { enabled }]) => enabled);
  const results = await Promise.all(wanted.map(([name, server]) => checkServer(name, server, env, signal)));
  return results.flat();
}

async function checkServer(
  name: string,
  server: ServerSettings,
  env: Environment,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const missing = referencesIn(server).filter((variable) => env[variable] === undefined || env[variable] === '');
  if (missing.length > 0)
    return [
      {
        ok: false,
        text: t('The server {name} needs variables that are not set: {missing}', { name, missing: missing.join(', ') }),
        remedy: t('Put them into the environment or the file .env.'),
      },
    ];
  if (server.url !== undefined) return [await checkAddress(name, server.url, signal)];
  return [await checkProgram(name, server.command ?? '', server.cwd)];
}

/** The names in `${NAME}`, wherever they stand. */
function referencesIn(server: ServerSettings): readonly string[] {
  const found = JSON.stringify(server).matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g);
  return [...new Set([...found].flatMap(([, variable]) => variable ?? []))];
}

async function checkAddress(name: string, url: string, signal: AbortSignal): Promise<CheckResult> {
  const host = URL.canParse(url) ? new URL(url).host : url;
  try {
    // Without a session a server refuses this; it answers, which is what is asked.
    const { status } = await fetch(url, { redirect: 'manual', signal });
    if (status < 500) return { ok: true, text: t('The server {name} at {host} can be reached', { name, host }) };
    return {
      ok: false,
      text: t('The server {name} at {host} answers with the error {status}', { name, host, status: String(status) }),
      remedy: t('Look at the log of that server.'),
    };
  } catch {
    return {
      ok: false,
      text: t('The server {name} at {host} cannot be reached', { name, host }),
      remedy: t('Look at its address in the setting `servers` of `mcp`, and whether it runs.'),
    };
  }
}

async function checkProgram(name: string, command: string, cwd: string | undefined): Promise<CheckResult> {
  const isPath = command.includes('/') || isAbsolute(command);
  const places = isPath
    ? [resolve(cwd ?? '.', command)]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, command));
  for (const place of places) {
    try {
      await access(place, constants.X_OK);
      return { ok: true, text: t('The program of the server {name} is there', { name }) };
    } catch {
      // Perhaps in the next folder.
    }
  }
  return {
    ok: false,
    text: t('The program {command} of the server {name} cannot be found', { command, name }),
    remedy: t('Install it, or correct the setting `servers` of `mcp`.'),
  };
}
