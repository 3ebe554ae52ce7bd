/* The files of the page as read-only data; the build says where they are. */
#ifdef __APPLE__
#define NAME(name) _##name
#define HIDDEN .private_extern
#define READ_ONLY __TEXT, __const
#else
#define NAME(name) name
#define HIDDEN .hidden
#define READ_ONLY .rodata
#endif

    .macro asset name, path
    .globl \name
    HIDDEN \name
    .globl \name\()_end
    HIDDEN \name\()_end
\name:
    .incbin "\path"
\name\()_end:
    .byte 0
    .endm

    .section READ_ONLY
    asset NAME(psfm_asset_page), PSFM_PAGE
    asset NAME(psfm_asset_style), PSFM_STYLE
    asset NAME(psfm_asset_script), PSFM_SCRIPT
    asset NAME(psfm_asset_three), PSFM_THREE
    asset NAME(psfm_asset_licence), PSFM_LICENCE

#ifndef __APPLE__
    .section .note.GNU-stack, "", %progbits
#endif
