import type { LocalApplication } from './application.js';
import type { LocalChannel } from './channel.js';
import type { LocalUser } from './user.js';

/** An incoming webhook. */
export interface LocalWebhook {
  readonly id: string;
  readonly token: string;
  readonly creator: LocalUser;
  readonly application: LocalApplication | undefined;
  channel: LocalChannel;
  name: string;
  avatar: string | null;
}
