/** `ManageMessages` as people know it: Manage Messages. */
export function permissionName(permission: string): string {
  return permission.replace(/(?<=[a-z])(?=[A-Z])/g, ' ');
}
