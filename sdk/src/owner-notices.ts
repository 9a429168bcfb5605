import { defineToken } from './token.js';

/** Something that an owner of the bot has to act on. */
export interface OwnerAlert {
  /**
   * What kind of trouble it is, in lower case with hyphens: `disk-full`, `gateway-away`, `model-resting`, `plugin-suspended`,
   * `restart-after-crash`, or one of the plugin's own. Each kind is sent at most once an hour; what comes in between is summed up.
   */
  readonly kind: string;
  /** What is the matter, as a sentence that is still true when it is read later: `The model gpt-5 failed five times in a row.` */
  readonly text: string;
  /** What to do about it, as a sentence. */
  readonly remedy: string;
}

/** The way to the bot's owners, by direct message and in the log. Provided by the host. */
export interface OwnerNotices {
  /**
   * Logs the alert at once and sends it to the owners as soon as Discord can be reached. What is not sent yet, and the hour, survive a restart.
   * An owner who could not be reached when another was is tried again for a day. Never throws.
   * @example notices.alert({ kind: 'disk-full', text: 'The disk is full.', remedy: 'Free some space: nothing can be saved until then.' });
   */
  alert(alert: OwnerAlert): void;
}
export const OwnerNotices = defineToken<OwnerNotices>('cinnabar.owner-notices');
