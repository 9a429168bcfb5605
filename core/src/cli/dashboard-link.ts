import { Access, WebServer } from '@cinnabar/sdk';
import type { Host } from '../host.js';

type Running = Pick<Host, 'plugins' | 'resolve'>;

/** An address that signs a user in to the dashboard, once; `undefined` where this process serves none. */
export function dashboardLink(host: Running, userId: string): string | undefined {
  const server = serverOf(host);
  return server?.url === undefined ? undefined : server.signInLink(userId);
}

/** The same for the owner of the bot; also `undefined` while the owner is not known from Discord. */
export async function ownersLink(host: Running): Promise<string | undefined> {
  if (serverOf(host)?.url === undefined) return undefined;
  const [owner] = await host.resolve(Access).owners();
  return owner === undefined ? undefined : dashboardLink(host, owner);
}

function serverOf(host: Running): WebServer | undefined {
  const isRunning = host.plugins.list().some(({ id, state }) => id === 'web' && state === 'running');
  return isRunning ? host.resolve(WebServer) : undefined;
}
