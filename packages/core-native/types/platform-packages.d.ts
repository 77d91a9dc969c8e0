// Of each platform's package: the addon.
declare module '@httpsys/core-linux-*'
declare module '@httpsys/core-darwin-*'
declare module '@httpsys/core-win32-*'
