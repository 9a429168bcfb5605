import type { APIAttachment, APIMessage } from 'discord-api-types/v10';
import { Link } from './markdown';

interface PictureProps {
  url: string;
  /** For those who do not see it. */
  name: string;
  class?: string | undefined;
}

/** Pictures of this server are shown; others stay where they are. */
export function Picture({ url, name, class: look }: PictureProps) {
  if (URL.canParse(url) && new URL(url).origin === location.origin) return <img src={url} alt={name} class={look} />;
  return <Link href={url}>{name}</Link>;
}

export function FileLink({ file }: { file: APIAttachment | undefined }) {
  if (file === undefined) return null;
  return (
    <p class="file">
      <Link href={file.url}>{file.filename}</Link> <small>{Math.ceil(file.size / 1024)} KiB</small>
    </p>
  );
}

/** The file of the message that `attachment://name` means. */
export function attachmentAt(message: APIMessage, url: string): APIAttachment | undefined {
  const name = url.replace(/^attachment:\/\//, '');
  return name === url ? undefined : message.attachments.find(({ filename }) => filename === name);
}

/** The edge of an embed or a container in its author's colour. */
export function colourStyle(colour: unknown): Record<string, string> {
  return typeof colour === 'number' ? { '--edge': `#${colour.toString(16).padStart(6, '0')}` } : {};
}
