import type { TestHost } from '@cinnabar/core/testing';
import type { LocalUser } from '@cinnabar/local-discord';

/** Creates a token with the command, whose answer is a direct message. */
export async function mintToken(host: TestHost, by: LocalUser = host.you, more = ''): Promise<string> {
  by.say(host.general, `!mcp token create ${more}`.trim());
  await host.settled();
  const sent = by.openDm(host.bot).messages.at(-1)?.content ?? '';
  const bearer = /cinnabar_mcp_[\w-]+/.exec(sent)?.[0];
  if (bearer === undefined) throw new Error(`there is no token in: ${sent}`);
  return bearer;
}

/** The address of the tools, as reported by the host. */
export async function endpointOf(host: TestHost): Promise<string> {
  host.you.say(host.general, '!mcp list');
  await host.settled();
  const said = host.general.messages.at(-1)?.content ?? '';
  const url = /<(http:[^>]+)>/.exec(said)?.[1];
  if (url === undefined) throw new Error(`there is no address in: ${said}`);
  return url;
}
