import { type Logger, type Plugins, permissionName } from '@cinnabar/sdk';
import type { Client, PermissionsString } from 'discord.js';

/** Tells the bot's owner, in the log, which permissions plugins need that the bot does not have in a server. */
export function tellMissingPermissions({
  client,
  plugins,
  log,
}: {
  readonly client: Client;
  readonly plugins: Pick<Plugins, 'list' | 'enabledIn'>;
  readonly log: Logger;
}): void {
  for (const guild of client.guilds.cache.values()) {
    const { me } = guild.members;
    if (me === null) continue;
    const byPermission = new Map<PermissionsString, string[]>();
    for (const { id, manifest, state } of plugins.list()) {
      if (state !== 'running' || !plugins.enabledIn(guild.id, id)) continue;
      for (const permission of me.permissions.missing([...(manifest.permissions ?? [])], true)) {
        byPermission.set(permission, [...(byPermission.get(permission) ?? []), id]);
      }
    }
    if (byPermission.size === 0) continue;
    const missing = [...byPermission].map(
      ([permission, ids]) => `${permissionName(permission)} (for ${ids.join(', ')})`,
    );
    log.warn(`the bot lacks permissions in ${guild.name}: ${missing.join('; ')}`, { guildId: guild.id });
  }
}
