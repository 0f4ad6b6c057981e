// page_files.S: the files of page/, which html.cpp puts together. Each is read-only and ends where the next label is.
.section .rodata
.global anyperf_page_html, anyperf_page_css, anyperf_page_scripts, anyperf_page_end
anyperf_page_html:
.incbin "page.html"
anyperf_page_css:
.incbin "page.css"
anyperf_page_scripts:
.incbin "profile.js"
.incbin "flame.js"
.incbin "timeline.js"
.incbin "table.js"
.incbin "app.js"
anyperf_page_end:
.section .note.GNU-stack, "", @progbits
